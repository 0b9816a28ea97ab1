/** The guard around every activity: it sends heartbeats, bounds results, and decides whether errors are retried. */
import { EventEmitter, once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { asyncLocalStorage, Context, type Info } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { guard } from '../../src/activities/base/guard.ts';
import { type ErrorCode, RuntimeError } from '../../src/core/value/error.ts';
import { LIMITS } from '../../src/core/value/limit.ts';

/** An activity context as the worker passes it in; `heartbeats` emits `heartbeat` for each one sent. */
function contextOf(info: Partial<Info>) {
  const heartbeats = new EventEmitter();
  const never = new Promise<never>(() => undefined);
  const { signal } = new AbortController();
  const beat = () => heartbeats.emit('heartbeat');
  const given = { activityType: 'modelStep', attempt: 1, isLocal: false, ...info } as Info;
  const nothing = {} as never;
  return { heartbeats, context: new Context(given, never, signal, beat, nothing, nothing, nothing, {}) };
}

interface Work<T> {
  readonly run: (heartbeats: EventEmitter) => Promise<T>;
  readonly info?: Partial<Info>;
  readonly faultAttempts?: number;
}

function inActivity<T>({ run, info = {}, faultAttempts }: Work<T>): Promise<T> {
  const { context, heartbeats } = contextOf(info);
  const activity = guard(() => run(heartbeats), {
    stopWithinMs: 50,
    ...(faultAttempts === undefined ? {} : { faultAttempts }),
  });
  return asyncLocalStorage.run(context, () => activity(undefined));
}

async function failureOf(work: Work<unknown>): Promise<ApplicationFailure> {
  const failure = await inActivity(work).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ApplicationFailure);
  return failure as ApplicationFailure;
}

describe('the guard around an activity', () => {
  it('sends heartbeats while the work is silent', async () => {
    const beats = async (heartbeats: EventEmitter) => {
      for (let count = 0; count < 3; count++) await once(heartbeats, 'heartbeat');
      return 'answered';
    };
    expect(await inActivity({ run: beats })).toBe('answered');
  });

  it('sends no heartbeat after the end', async () => {
    const { context, heartbeats } = contextOf({});
    let count = 0;
    heartbeats.on('heartbeat', () => {
      count += 1;
    });
    await asyncLocalStorage.run(context, () =>
      guard(() => once(heartbeats, 'heartbeat'), { stopWithinMs: 50 })(undefined),
    );
    const before = count;
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(count).toBe(before);
  });

  it('returns a result up to the history limit, and fails above it', async () => {
    const whole = 'x'.repeat(LIMITS.activityResultBytes - 2);
    expect(await inActivity({ run: async () => whole })).toBe(whole);
    const failure = await failureOf({ run: async () => `${whole}x` });
    expect(failure).toMatchObject({ type: 'ResultTooLarge', nonRetryable: true });
    expect(failure.message).toContain(`${LIMITS.activityResultBytes + 1} bytes`);
  });

  it('retries a fault up to the maximum attempts', async () => {
    const fault = { run: () => Promise.reject(new TypeError('a fault')), faultAttempts: 8 };
    expect(await failureOf({ ...fault, info: { attempt: 7 } })).toMatchObject({
      type: 'Fault',
      nonRetryable: false,
    });
    expect(await failureOf({ ...fault, info: { attempt: 8 } })).toMatchObject({
      type: 'Fault',
      nonRetryable: true,
    });
  });

  it.each(['StoreUnavailable', 'StoreFull', 'StoreMismatch', 'StoreLost', 'StoreCorrupt'] as const)(
    'waits for a store that fails with %s, at any attempt',
    async (code: ErrorCode) => {
      const run = () => Promise.reject(new RuntimeError(code, 'not now'));
      const failure = await failureOf({ run, info: { attempt: 1000 }, faultAttempts: 8 });
      expect(failure).toMatchObject({ type: code, nonRetryable: false });
      expect(failure.nextRetryDelay).toMatch(/second/);
    },
  );
});
