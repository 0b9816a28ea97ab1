/** The rate limiter of one process. Its clock moves only when a test moves it. */
import { describe, expect, it } from '@jest/globals';
import { callModel } from '../../src/models/call-model.ts';
import { createRateLimiter } from '../../src/models/memory-limiter.ts';
import type { Admission, EnteringRequest, Lease } from '../../src/models/rate-limiter.ts';
import { fails, says, scriptedModel } from '../../src/testing/index.ts';
import { ask, defineTestModel } from './support.ts';

function open() {
  const clock = { now: 0 };
  const limiter = createRateLimiter({ now: () => clock.now, random: () => 0 });
  const enter = (ticket: string, given: Partial<EnteringRequest> = {}): Promise<Admission> =>
    limiter.enter({
      ...{ line: 'a', model: 'main', ticket, since: 0, maxWaitMs: 5000 },
      signal: new AbortController().signal,
      ...given,
    });
  const lease = async (ticket: string, given?: Partial<EnteringRequest>): Promise<Lease> => {
    const admission = await enter(ticket, given);
    if (admission.kind !== 'admitted') throw new Error(`${ticket} was sent away`);
    return admission.lease;
  };
  return { clock, limiter, enter, lease };
}

describe('the rate limiter', () => {
  it('holds new requests of the refused queue, and no others', async () => {
    const { clock, enter, lease } = open();
    const first = await lease('1');
    expect(first.refused(8000)).toBe(8000);
    first.end();
    expect(await enter('2')).toMatchObject({ kind: 'later', pauseMs: 8000, refused: true });
    expect(await enter('2', { line: 'b' })).toMatchObject({ kind: 'admitted' });
    clock.now = 8000;
    expect(await enter('2')).toMatchObject({ kind: 'admitted' });
  });

  it('admits waiting requests one at a time, in the order of their first request', async () => {
    const { lease } = open();
    const first = await lease('1', { concurrency: 1 });
    const order: string[] = [];
    const waits = (ticket: string, since: number) =>
      lease(ticket, { since, concurrency: 1 }).then(
        (each) => {
          order.push(ticket);
          each.end();
        },
        () => order.push(`${ticket} away`),
      );
    const all = [waits('new', 9), waits('old', 3)];
    await new Promise(setImmediate);
    // As many wait here as may run: the newest was sent away.
    expect(order).toEqual(['new away']);
    first.end();
    await Promise.all(all);
    expect(order).toEqual(['new away', 'old']);
  });

  it('admits at most the defined concurrency, and sends away requests that would wait too long', async () => {
    const { enter, lease, limiter } = open();
    await lease('1', { concurrency: 1 });
    expect(await enter('2', { concurrency: 1, maxWaitMs: 1 })).toMatchObject({
      kind: 'later',
      refused: false,
    });
    expect(limiter.list()).toEqual([{ model: 'main', running: 1, waiting: 1, limit: 1 }]);
    expect([limiter.mayHold('main'), limiter.mayHold('other')]).toEqual([true, false]);
  });

  it('ends a wait with the reason of its abort', async () => {
    const { enter, lease } = open();
    await lease('1', { concurrency: 1 });
    const abort = new AbortController();
    const waits = enter('2', { concurrency: 1, signal: abort.signal });
    const reason = new Error('stopped');
    abort.abort(reason);
    await expect(waits).rejects.toBe(reason);
  });

  it('forgets a queue that is not used', async () => {
    const { clock, lease, limiter } = open();
    const first = await lease('1');
    first.refused();
    first.end();
    clock.now = 10 * 60_000;
    (await lease('1', { line: 'b' })).end();
    expect(limiter.list()).toHaveLength(2);
    clock.now += 1;
    (await lease('1', { line: 'b' })).end();
    expect(limiter.list()).toHaveLength(1);
  });
});

describe('a rate-limited model call', () => {
  const slow = (retryAfter: number) => fails({ status: 429, message: 'slow down', retryAfter });
  const call = (
    limiter: ReturnType<typeof createRateLimiter>,
    models: ReturnType<typeof defineTestModel>[],
    given: object = {},
  ) =>
    callModel({
      ...{ models, request: () => ask('hello'), signal: new AbortController().signal },
      ...{ place: { limiter, ticket: 't' }, ...given },
    });

  it('returns if its turn comes after its maximum wait, and continues from there later', async () => {
    const { clock, limiter } = open();
    const model = defineTestModel('main', scriptedModel([slow(8), says('Here')]).provider);
    const left = await call(limiter, [model]);
    expect(left).toMatchObject({ ok: false, attempts: 1, held: { model: 'main', pauseMs: 8000 } });
    clock.now = 8000;
    const asked = left.ok ? undefined : left.held?.asked;
    expect(asked).toMatchObject({ position: 0, refusals: 1, attempts: 1 });
    expect(await call(limiter, [model], { asked })).toMatchObject({ ok: true, attempts: 2 });
  });

  it('calls the fallback at once while its model is held for long', async () => {
    const { limiter } = open();
    const refusing = scriptedModel([slow(60)]);
    const models = [
      defineTestModel('main', refusing.provider),
      defineTestModel('spare', scriptedModel(() => says('Here')).provider),
    ];
    expect(await call(limiter, models)).toMatchObject({ ok: true, attempts: 2 });
    // The second call does not reach the model that refuses.
    expect(await call(limiter, models)).toMatchObject({ ok: true, attempts: 1 });
    expect(refusing.requests).toHaveLength(1);
  });

  it('fails if its provider accepts nothing within the total timeout', async () => {
    const { limiter } = open();
    const model = defineTestModel('main', scriptedModel([slow(30)]).provider);
    const limits = { totalMs: 20_000, generateMs: 20_000 };
    const left = await call(limiter, [model], { limits });
    expect(left).toMatchObject({ ok: false, held: { pauseMs: 30_000 } });
    const asked = { position: 0, refusals: 1, attempts: 1, since: Date.now() - 40_000 };
    const over = await call(limiter, [model], { limits, asked });
    expect(over).toMatchObject({ ok: false, attempts: 1, error: { code: 'rate_limit' } });
    expect(over.ok ? '' : over.error.message).toContain('has refused earlier requests');
    expect('held' in over && over.held).toBeFalsy();
  });
});
