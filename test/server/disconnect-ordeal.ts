/**
 * Threads that stream to readers on every endpoint, while connections of each are cut at random and workers and the API
 * process are killed: each reader ends with exactly what was committed, each row once, in order, and one end.
 * `EVERTHREAD_FAULT_SEED` changes the schedule.
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
/** Turns of a thread, after which a new one replaces it. */
const MOST_TURNS = 12;

/**
 * Maximum number of bytes between two cuts, by endpoint. A chat that reconnects receives its response from the
 * beginning.
 */
const DOORS = { sse: 2000, ndjson: 2000, client: 2000, standard: 2000, chat: 6000 } as const;
type Door = keyof typeof DOORS;

export interface Disconnects {
  /** Workers alive at a time; with only one, a killed worker's tasks wait for its replacement. */
  readonly workers: number;
  /** Threads at a time. */
  readonly threads: number;
  /** Number of cuts on each endpoint. */
  readonly cuts: number;
  /** Number of deaths: the API process and a worker alternate. */
  readonly deaths: number;
  /** Threads and cuts of each third-party client (client-ordeal.ts). */
  readonly ofOthers: { readonly threads: number; readonly cuts: number };
}

/** The model's answer to a message. */
const answerTo = (said: string) => Array.from({ length: PIECES }, (_, n) => `${said}.${n}`).join(' ');

interface Run {
  readonly cluster: Cluster;
  /** The API's endpoints, each behind a proxy that cuts connections. */
  readonly doors: Readonly<Record<Door, CuttingProxy>>;
  readonly isOver: () => boolean;
}

export function describeDisconnects(disconnects: Disconnects): void {
  describe('streams over broken connections', () => ordeal(disconnects));
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
    `${threads} concurrent threads at every endpoint, over ${cuts} cut connections at each, and ${ofOthers.threads} by each third-party client over ${ofOthers.cuts}, during ${deaths} deaths, arrive complete, once and in order (seed ${SEED})`,
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

/** Starts the API process of this cluster on this port. */
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

/** Runs threads one after another until the test is over; returns the number of their turns. */
async function tellThreads(run: Run): Promise<number> {
  let turns = 0;
  do turns += await tellAtEveryDoor(run);
  while (!run.isOver());
  return turns;
}

/**
 * Runs a thread that a chat sends turn after turn to, and that is read on every other endpoint until it is terminated.
 */
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
  // In the long form the log may have fewer rows by now: streamed text is removed ten minutes after its execution.
  const rows = await cluster.store.events.read(threadId, 0, 1_000_000);
  const kept = new Set(rows.map(({ seq }) => seq));
  expect(told.filter(({ seq, type }) => kept.has(seq) || type !== 'model.chunk')).toEqual(rows);
  return turns;
}
