/**
 * Runs threads while something is broken repeatedly, then checks that no message is lost or duplicated, that a thread
 * runs one step at a time, that no side effect happens twice, and that every thread comes to rest.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from '@jest/globals';
import type { ThreadEvent } from '../../src/core/event/thread-event.ts';
import type { Message } from '../../src/core/message/message.ts';
import { isRuntimeError } from '../../src/core/value/error.ts';
import type { Cluster } from './fault-cluster.ts';
import { type Random, seededRandom } from './seeded-random.ts';

export interface Ordeal {
  readonly cluster: Cluster;
  readonly threads: number;
  /** Steps of each turn. */
  readonly steps: number;
  readonly seconds: number;
  readonly seed: number;
  /** Breaks something and repairs it; one to three seconds pass between two strikes. */
  readonly strike: (random: Random) => Promise<void>;
}

export interface Survival {
  readonly strikes: number;
  readonly turns: number;
  /** Tool calls whose outcome is unknown. */
  readonly unknown: number;
}

/** Minimum number of strikes, even after `seconds`: on a busy machine a worker starts slowly. */
const LEAST_STRIKES = 2;

/**
 * Milliseconds for all threads to recover once nothing is broken any more. Generous, because a lost or stuck thread
 * never comes to rest.
 */
export const RECOVERY_MS = 240_000;

/** Kills a random worker at a random moment, then starts another. */
export async function killWorker(cluster: Cluster, random: Random): Promise<void> {
  const { length } = cluster.workers;
  await random.pick(cluster.workers).end('SIGKILL');
  await cluster.keep(length);
}

export async function survive(ordeal: Ordeal): Promise<Survival> {
  const { cluster, steps } = ordeal;
  const threads = await Promise.all(
    Array.from({ length: ordeal.threads }, () => cluster.begin(`use linger ${steps}`)),
  );
  const over = new AbortController();
  const busy = threads.map((thread) => keepBusy(ordeal, thread, over.signal));
  const strikes = await strikeOn(ordeal);
  over.abort();
  const sent = await Promise.all(busy);
  let unknown = 0;
  for (const [index, thread] of threads.entries()) {
    const messages = await cluster.messages(thread);
    expectComplete(messages, sent[index] as number, steps);
    expectOneStepAtATime(await cluster.store.events.read(thread, 0, 1_000_000));
    unknown += expectTrue(cluster.ledger(thread), messages);
    expect(await cluster.client.getThread(thread)).toMatchObject({ status: 'idle', lastError: null });
  }
  return { strikes, turns: sent.reduce((sum, count) => sum + count, 0), unknown };
}

async function strikeOn({ seconds, seed, strike }: Ordeal): Promise<number> {
  const random = seededRandom(seed);
  const end = performance.now() + seconds * 1000;
  let strikes = 0;
  while (performance.now() < end || strikes < LEAST_STRIKES) {
    await delay(1000 + random.below(2000));
    await strike(random);
    strikes += 1;
  }
  return strikes;
}

/** Sends messages until the ordeal is over: a thread that is at rest gets the next turn. */
async function keepBusy(
  { cluster, seconds, steps }: Ordeal,
  thread: string,
  over: AbortSignal,
): Promise<number> {
  let sent = 1;
  for (;;) {
    await patiently(() => cluster.client.waitForIdle(thread, { timeoutMs: seconds * 1000 + RECOVERY_MS }));
    if (over.aborted) return sent;
    const message = { id: `m${sent}`, content: `use linger ${steps}` };
    await patiently(() => cluster.client.queueMessage(thread, message));
    sent += 1;
  }
}

/** Repeats a call of a client while it fails with `StoreUnavailable`. */
async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isRuntimeError(error, 'StoreUnavailable')) throw error;
    }
  }
}

function expectComplete(messages: readonly Message[], sent: number, steps: number): void {
  const by = (role: Message['role']) => messages.filter((message) => message.role === role);
  expect(
    by('user')
      .map(({ id }) => id)
      .slice(1),
  ).toEqual(Array.from({ length: sent - 1 }, (_, index) => `m${index + 1}`));
  const asked = by('assistant').flatMap(({ tool_calls: asked }) =>
    asked ? (JSON.parse(asked) as { id: string }[]) : [],
  );
  expect(by('tool').map(({ tool_call_id: id }) => id)).toEqual(asked.map(({ id }) => id));
  expect(asked).toHaveLength(sent * steps);
  expect(by('assistant').filter(({ tool_calls: asked }) => !asked)).toHaveLength(sent);
}

/**
 * Checks the log: sequence numbers increase, and no step starts before the previous one has its answer and all results.
 */
function expectOneStepAtATime(events: readonly ThreadEvent[]): void {
  expect(events.map(({ seq }) => seq).every((seq, n) => n === 0 || seq > (events[n - 1]?.seq ?? 0))).toBe(
    true,
  );
  const open = { step: 0, committed: true, calls: 0 };
  for (const { type, step } of events) {
    if (type === 'tool.late_result' || step === undefined) continue;
    if (type === 'step.started') {
      expect({ ...open, next: step }).toEqual({ step: step - 1, committed: true, calls: 0, next: step });
      Object.assign(open, { step, committed: false });
      continue;
    }
    expect([type, step]).toEqual([type, open.step]);
    if (type === 'step.committed') open.committed = true;
    if (type === 'tool.called') open.calls += 1;
    if (type === 'tool.result' || type === 'tool.unknown') open.calls -= 1;
  }
  expect(open).toMatchObject({ committed: true, calls: 0 });
}

/**
 * The ledger must hold the lines of all calls of known outcome, in order; further lines only from calls of unknown
 * outcome, whose number is returned.
 */
function expectTrue(ledger: readonly string[], messages: readonly Message[]): number {
  expect(new Set(ledger).size).toBe(ledger.length);
  const results = messages.filter(({ role }) => role === 'tool');
  const [unknown, known] = [true, false].map((is) =>
    results.filter(({ metadata }) => (metadata.outcome === 'unknown') === is),
  ) as [Message[], Message[]];
  const believed = known.map(({ content }) => content?.replace('wrote ', ''));
  expect(ledger.filter((line) => believed.includes(line))).toEqual(believed);
  // The remaining lines were written by calls of unknown outcome.
  expect(ledger.length - believed.length).toBeLessThanOrEqual(unknown.length);
  return unknown.length;
}
