/**
 * Fifty threads under a seeded schedule of worker deaths. `EVERTHREAD_FAULT_SECONDS` lengthens the schedule (default
 * 25), `EVERTHREAD_FAULT_SEED` changes it.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { LocalServer } from '../../src/cli/local-server/start-server.ts';
import type { Message } from '../../src/core/message.ts';
import { seededRandom } from '../core/seeded-random.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { startOwnServer } from '../support/own-server.ts';

const SECONDS = Number(process.env.EVERTHREAD_FAULT_SECONDS || 25);
const SEED = Number(process.env.EVERTHREAD_FAULT_SEED || 20_261_121);
const THREADS = 50;
const STEPS = 10;
/** Of everything together, once nobody is killed any more. */
const RECOVERY_MS = 90_000;

let server: LocalServer;
let cluster: Cluster;

beforeAll(async () => {
  server = await startOwnServer();
  cluster = await startCluster({ address: server.address, configuration: { historySoftLimit: 100 } });
  await cluster.keep(2);
});
afterAll(async () => {
  await cluster?.close();
  await server?.stop();
});

/** Kills a worker every one to three seconds, at any place, and starts another; answers how many died. */
async function killAtRandom(): Promise<number> {
  const random = seededRandom(SEED);
  const end = performance.now() + SECONDS * 1000;
  let deaths = 0;
  while (performance.now() < end) {
    await delay(1000 + random.below(2000));
    await random.pick(cluster.workers).end('SIGKILL');
    deaths += 1;
    await cluster.keep(2);
  }
  return deaths;
}

/** Messages for as long as workers die: a thread that has answered is given the next ten steps. */
async function keepBusy(thread: string, over: AbortSignal): Promise<number> {
  let sent = 1;
  for (;;) {
    await cluster.client.waitForIdle(thread, { timeoutMs: SECONDS * 1000 + RECOVERY_MS });
    if (over.aborted) return sent;
    await cluster.client.queueMessage(thread, { id: `m${sent}`, content: `use linger ${STEPS}` });
    sent += 1;
  }
}

function expectComplete(messages: readonly Message[], sent: number): void {
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
  expect(asked).toHaveLength(sent * STEPS);
  expect(by('assistant').filter(({ tool_calls: asked }) => !asked)).toHaveLength(sent);
}

/** The ledger has what the thread believes, but for calls whose outcome it calls unknown; answers how many. */
function expectTrue(ledger: readonly string[], messages: readonly Message[]): number {
  expect(new Set(ledger).size).toBe(ledger.length);
  const results = messages.filter(({ role }) => role === 'tool');
  const [unknown, known] = [true, false].map((is) =>
    results.filter(({ metadata }) => (metadata.outcome === 'unknown') === is),
  );
  expect(ledger).toEqual(expect.arrayContaining(known!.map(({ content }) => content?.replace('wrote ', ''))));
  // What is left over was written by a call of unknown outcome.
  expect(ledger.length - known!.length).toBeLessThanOrEqual(unknown!.length);
  return unknown!.length;
}

describe(`${THREADS} threads of ${STEPS} steps, workers killed at random for ${SECONDS} s`, () => {
  it(
    `lose no message, double no side effect, and come to rest (seed ${SEED})`,
    async () => {
      const threads = await Promise.all(
        Array.from({ length: THREADS }, () => cluster.begin(`use linger ${STEPS}`)),
      );
      const over = new AbortController();
      const busy = threads.map((thread) => keepBusy(thread, over.signal));
      const deaths = await killAtRandom();
      over.abort();
      const sent = await Promise.all(busy);
      let unknown = 0;
      for (const [index, thread] of threads.entries()) {
        const messages = await cluster.messages(thread);
        expectComplete(messages, sent[index] as number);
        unknown += expectTrue(cluster.ledger(thread), messages);
        expect(await cluster.client.getThread(thread)).toMatchObject({ status: 'idle', lastError: null });
      }
      const turns = sent.reduce((sum, count) => sum + count, 0);
      process.stdout.write(`${deaths} workers died under ${turns} turns; ${unknown} outcomes are unknown\n`);
      expect(deaths).toBeGreaterThan(1);
    },
    SECONDS * 1000 + RECOVERY_MS + 60_000,
  );
});
