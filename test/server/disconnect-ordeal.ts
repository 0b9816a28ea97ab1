/**
 * Threads that stream to readers at every door, while connections of each are cut at random, and workers and the API process are killed: each reader ends with
 * exactly what was committed, each row once, in order, and one end. `EVERTHREAD_FAULT_SEED` changes it.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { findFreePorts } from '../../src/temporal-service/free-port.ts';
import { says } from '../../src/testing/index.ts';
import { type CuttingProxy, cuttingProxy } from '../support/cutting-proxy.ts';
import { eventually } from '../support/eventually.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { PATIENCE } from '../support/killing.ts';
import { isLong } from '../support/long-form.ts';
import { PROGRAM_OPTIONS } from '../support/program-options.ts';
import { closeAfterTest } from '../support/runtime.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { tellByOthers } from './client-ordeal.ts';
import { chat, expectStandard, openStandard, readLog, readWithClient } from './door-readers.ts';

const SEED = Number(process.env.EVERTHREAD_FAULT_SEED || 20_261_124);
const PIECES = 30;
const PIECE_MS = 20;
/** Then its place is taken by a new one. */
const MOST_TURNS = 12;

/** At each door: the most bytes that reach its readers between two cuts. What comes back to a chat is told its response from the beginning. */
const DOORS = { sse: 2000, ndjson: 2000, client: 2000, standard: 2000, chat: 6000 } as const;
type Door = keyof typeof DOORS;

export interface Disconnects {
  /** Alive at a time: where there is one, what it did waits for the next. */
  readonly workers: number;
  /** At a time. */
  readonly threads: number;
  /** At each door. */
  readonly cuts: number;
  /** Deaths: of a worker and of the API process, in turns. */
  readonly deaths: number;
  /** Of each client that others have made (client-ordeal.ts). */
  readonly ofOthers: { readonly threads: number; readonly cuts: number };
}

/** What is answered to a message. */
const answerTo = (said: string) => Array.from({ length: PIECES }, (_, n) => `${said}.${n}`).join(' ');

interface Run {
  readonly cluster: Cluster;
  /** The API, behind what cuts. */
  readonly doors: Readonly<Record<Door, CuttingProxy>>;
  readonly isOver: () => boolean;
}

export function describeDisconnects(disconnects: Disconnects): void {
  describe('streams that break', () => ordeal(disconnects));
}

function ordeal({ workers, threads, cuts, deaths, ofOthers }: Disconnects): void {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster({
      script: ({ messages }) =>
        says(answerTo(String(messages.findLast(({ role }) => role === 'user')?.content)), {
          chunks: PIECES,
          chunkDelayMs: PIECE_MS,
        }),
    });
    await cluster.keep(workers);
  });
  afterAll(() => cluster?.close());

  it(
    `${threads} threads at a time told at every door, over ${cuts} cut connections at each, and ${ofOthers.threads} by each client of others over ${ofOthers.cuts}, under ${deaths} deaths, are told whole, once and in order (seed ${SEED})`,
    async () => {
      const random = seededRandom(SEED);
      const [port = 0] = await findFreePorts(1);
      let api = await startApi(cluster, port);
      closeAfterTest(() => end(api));
      const doors = await openDoors(`http://127.0.0.1:${port}`);
      const made = () => Object.values(doors).map((door) => door.cuts);
      const sum = () => made().reduce((all, each) => all + each, 0);
      let died = 0;
      const mayEnd = () => died >= deaths;
      const isOver = () => mayEnd() && made().every((each) => each >= cuts);
      const work = Promise.all(
        Array.from({ length: threads }, () => tellThreads({ cluster, doors, isOver })),
      );
      for (const [door, most] of Object.entries(DOORS) as [Door, number][])
        doors[door].cut(...Array.from({ length: cuts }, () => 1 + random.below(most)));
      const dying = (async () => {
        for (; died < deaths; died++) {
          const before = sum();
          const goesOn = () => sum() > before || made().every((each) => each >= cuts);
          await eventually('streams go on', goesOn, PATIENCE[0]);
          await delay(random.below(PIECES * PIECE_MS));
          if (died % 2 === 0) {
            await end(api);
            api = await startApi(cluster, port);
          } else {
            await random.pick(cluster.workers).end('SIGKILL');
            await cluster.keep(workers);
          }
        }
      })();
      const told = tellByOthers({
        cluster,
        url: `http://127.0.0.1:${port}`,
        random: random.split('others'),
        mayEnd,
        answerTo,
        ...ofOthers,
      });
      const [figures, turns] = await Promise.all([told, work, dying]);
      const own = { turns: turns.reduce((one, other) => one + other, 0), cuts: made() };
      if (isLong)
        process.stdout.write(`${JSON.stringify({ doors: Object.keys(DOORS), own, others: figures })}\n`);
    },
    4 * PATIENCE[0],
  );
}

async function openDoors(api: string): Promise<Record<Door, CuttingProxy>> {
  const names = Object.keys(DOORS) as Door[];
  const proxies = await Promise.all(names.map(async (door) => [door, await cuttingProxy(api)] as const));
  return Object.fromEntries(proxies) as Record<Door, CuttingProxy>;
}

/** The API process of this cluster, at this port. */
async function startApi({ folder, taskQueue }: Cluster, port: number): Promise<ChildProcess> {
  const program = join(import.meta.dirname, '..', 'support', 'api-process.ts');
  const store = `sqlite:${join(folder, 'store.db')}?synchronous=normal`;
  const child = fork(program, [store, taskQueue, String(port)], { execArgv: [...PROGRAM_OPTIONS] });
  await once(child, 'message');
  return child;
}

async function end(api: ChildProcess): Promise<void> {
  if (api.exitCode !== null || api.signalCode !== null) return;
  api.kill('SIGKILL');
  await once(api, 'exit');
}

/** One after another, until all is over; answers the turns that they had. */
async function tellThreads(run: Run): Promise<number> {
  let turns = 0;
  do turns += await tellAtEveryDoor(run);
  while (!run.isOver());
  return turns;
}

/** A thread that is spoken to by a chat, turn after turn, and read at every other door until it is terminated. */
async function tellAtEveryDoor({ cluster, doors, isOver }: Run): Promise<number> {
  const threadId = randomUUID();
  const first = { id: 'm-turn-0', content: 'turn-0' };
  await cluster.client.startThread({ agent: 'helper', threadId, messages: [first] });
  const logs = [
    readLog(`${doors.sse.url}/v1/threads/${threadId}/events`, 'sse'),
    readLog(`${doors.ndjson.url}/v1/threads/${threadId}/events`, 'ndjson'),
    readWithClient(doors.client.url, threadId),
  ];
  const standard = await openStandard(doors.standard.url, threadId);
  let turns = 0;
  for (; turns < 2 || (turns < MOST_TURNS && !isOver()); turns++)
    await chat(doors.chat.url, threadId, { said: `turn-${turns}`, answer: answerTo(`turn-${turns}`) });
  await cluster.client.waitForIdle(threadId, { timeoutMs: PATIENCE[0] });
  const { messages } = await cluster.client.getMessages(threadId, { limit: 1000 });
  expect(messages.map(({ content }) => content)).toEqual(
    Array.from({ length: turns }, (_, n) => [`turn-${n}`, answerTo(`turn-${n}`)]).flat(),
  );
  await expectStandard(standard, threadId);
  await cluster.client.terminate(threadId);
  const [told = [], ...others] = await Promise.all(logs);
  expect(told.map(({ seq }) => seq)).toEqual(told.map((_, n) => n + 1));
  for (const other of others) expect(other).toEqual(told);
  // In the long form the log may have less by now: streamed text goes from it ten minutes after its execution.
  const rows = await cluster.store.events.read(threadId, 0, 1_000_000);
  const kept = new Set(rows.map(({ seq }) => seq));
  expect(told.filter(({ seq, type }) => kept.has(seq) || type !== 'model.chunk')).toEqual(rows);
  return turns;
}
