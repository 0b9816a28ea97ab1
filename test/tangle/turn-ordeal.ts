/**
 * Chat turns whose clients leave and come back, over connections that are cut, while workers and the API process are
 * killed: each turn runs once, is kept once, and is streamed whole, in order, without duplicates.
 * `EVERTHREAD_FAULT_SEED` changes the schedule.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type BoxEvent,
  clientBox,
  handleChatTurn,
  type RemoteBox,
  remoteBox,
} from '../../src/faces/tangle/index.ts';
import { findFreePorts } from '../../src/temporal-service/free-port.ts';
import { says } from '../../src/testing/index.ts';
import { collect } from '../projections/golden.ts';
import { type CuttingProxy, cuttingProxy } from '../support/cutting-proxy.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { PATIENCE } from '../support/killing.ts';
import { createDatabase } from '../support/postgres.ts';
import { PROGRAM_OPTIONS } from '../support/program-options.ts';
import { closeAfterTest } from '../support/runtime.ts';
import { seededRandom } from '../support/seeded-random.ts';

const SEED = Number(process.env.EVERTHREAD_FAULT_SEED || 20_261_124);
export const PIECES = 12;
const PIECE_MS = 15;
export const PROGRAM = join(import.meta.dirname, '..', 'support', 'turn-worker-process.ts');

export interface TurnOrdeal {
  readonly store: 'sqlite' | 'postgres';
  readonly sessions: number;
  /** Turns of each session, one after another. */
  readonly turns: number;
  readonly cuts: number;
  /** Number of deaths: a worker and the API process alternate. */
  readonly deaths: number;
}

export const answerTo = (said: string) => Array.from({ length: PIECES }, (_, n) => `${said}.${n}`).join(' ');

export function describeTurns(ordeal: TurnOrdeal): void {
  const { store, sessions, turns, cuts, deaths } = ordeal;
  describe(`chat turns on ${store}`, () => {
    let cluster: Cluster;
    let address: string;
    beforeAll(async () => {
      const database = store === 'postgres' ? await createDatabase() : null;
      cluster = await startCluster({
        ...(database && { store: database.address }),
        program: PROGRAM,
        script: ({ messages }) =>
          says(answerTo(String(messages.findLast(({ role }) => role === 'user')?.content)), {
            chunks: PIECES,
            chunkDelayMs: PIECE_MS,
          }),
      });
      address = database?.address ?? `sqlite:${join(cluster.folder, 'store.db')}?synchronous=normal`;
      if (database) onEnd.push(() => database.drop());
      await cluster.keep(2);
    }, 300_000);
    const onEnd: (() => Promise<void>)[] = [];
    afterAll(async () => {
      await cluster?.close();
      for (const each of onEnd) await each();
    });

    it(
      `[TG-20] ${sessions * turns} turns over ${cuts} cuts and ${deaths} deaths: each runs once, is stored once, and streams completely (seed ${SEED})`,
      async () => {
        const random = seededRandom(SEED);
        const [port = 0] = await findFreePorts(1);
        let api = await startApi(address, cluster.taskQueue, port);
        closeAfterTest(() => end(api));
        const proxy = await cuttingProxy(`http://127.0.0.1:${port}`);
        const box = remoteBox({ url: proxy.url, agent: 'helper', patienceMs: PATIENCE[0] });
        proxy.cut(...Array.from({ length: cuts }, () => 1 + random.below(1500)));
        const ids = Array.from({ length: sessions }, () => randomUUID());
        let open = sessions;
        const work = ids.map(async (sessionId) => {
          for (let turn = 0; turn < turns; turn++) await takeTurn({ cluster, box, proxy, sessionId, turn });
          open -= 1;
        });
        const dying = (async () => {
          for (let died = 0; died < deaths && open > 0; died++) {
            await delay(random.below(4 * PIECES * PIECE_MS));
            if (died % 2 === 0) {
              await random.pick(cluster.workers).end('SIGKILL');
              await cluster.keep(2);
            } else {
              await end(api);
              api = await startApi(address, cluster.taskQueue, port);
            }
          }
        })();
        await Promise.all([dying, ...work]);
        for (const sessionId of ids) await expectWhole(cluster, sessionId, turns);
      },
      2 * PATIENCE[0],
    );
  });
}

interface Turn {
  readonly cluster: Cluster;
  readonly box: RemoteBox;
  readonly proxy: CuttingProxy;
  readonly sessionId: string;
  readonly turn: number;
}

export type Line = Pick<BoxEvent, 'id'> & {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
};

/**
 * Reads a turn with a client that leaves again and again, each time replaced by a new one that knows only the last id.
 */
async function takeTurn({ cluster, box, sessionId, turn }: Turn): Promise<void> {
  const identity = { tenantId: 'acme', userId: 'ada', sessionId, turnIndex: turn };
  const message = `turn-${turn}`;
  const lines: Line[] = [];
  const isOver = () => lines.at(-1)?.type.startsWith('session.run.') === true && lines.length > 1;
  for (let visit = 1; !isOver(); visit++) {
    const { body } = handleChatTurn({ box, identity, message, lastEventId: lines.at(-1)?.id });
    const patience = visit * 3;
    for await (const line of linesOf(body)) {
      lines.push(line);
      if (lines.length % patience === 0) break;
    }
  }
  const all = await collect(
    handledLines(clientBox(cluster.client, { agent: 'helper' }), { identity, message }),
  );
  // A later reader receives the same lines.
  expect(lines).toEqual(all);
  expect(lines[0]?.type).toBe('session.run.started');
  expect(lines.at(-1)?.type).toBe('session.run.completed');
  expect(textOf(lines)).toBe(answerTo(message));
}

export function handledLines(
  box: ReturnType<typeof clientBox>,
  { identity, message }: Pick<Parameters<typeof handleChatTurn>[0], 'identity' | 'message'>,
): AsyncGenerator<Line> {
  return linesOf(handleChatTurn({ box, identity, message }).body);
}

export async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Line> {
  let rest = '';
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    for (const part of parts) yield JSON.parse(part);
  }
}

/** The text that a reader has at the end: if it was restarted, its last version. */
export function textOf(lines: readonly Line[]): string {
  let text = '';
  for (const { type, data } of lines) {
    if (type === 'message.started' || type === 'message.discarded') text = '';
    if (type === 'message.part.updated') text += data.delta;
  }
  return text;
}

export async function expectWhole(cluster: Cluster, sessionId: string, turns: number): Promise<void> {
  const { client, store, folder } = cluster;
  await client.waitForIdle(sessionId, { timeoutMs: PATIENCE[0] });
  const { messages } = await client.getMessages(sessionId, { limit: 1000 });
  expect(messages.map(({ content }) => content)).toEqual(
    Array.from({ length: turns }, (_, n) => [`turn-${n}`, answerTo(`turn-${n}`)]).flat(),
  );
  const rows = await store.events.read(sessionId, 0, 1_000_000);
  expect(rows.flatMap(({ type, data }) => (type === 'execution.started' ? [data.executionId] : []))).toEqual(
    Array.from({ length: turns }, (_, n) => `chat:${sessionId}:${n}`),
  );
  const kept = readdirSync(join(folder, 'kept'))
    .map((file) => JSON.parse(readFileSync(join(folder, 'kept', file), 'utf8')))
    .filter(({ session }) => session === sessionId)
    .toSorted((one, other) => one.turn - other.turn);
  expect(kept.map(({ finalText }) => finalText)).toEqual(
    Array.from({ length: turns }, (_, n) => answerTo(`turn-${n}`)),
  );
}

/** Starts the API process of this cluster on this port. */
async function startApi(store: string, taskQueue: string, port: number): Promise<ChildProcess> {
  const program = join(import.meta.dirname, '..', 'support', 'api-process.ts');
  const child = fork(program, [store, taskQueue, String(port)], { execArgv: [...PROGRAM_OPTIONS] });
  await once(child, 'message');
  return child;
}

async function end(api: ChildProcess): Promise<void> {
  if (api.exitCode !== null || api.signalCode !== null) return;
  api.kill('SIGKILL');
  await once(api, 'exit');
}
