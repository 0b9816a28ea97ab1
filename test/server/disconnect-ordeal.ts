/**
 * Threads that stream to readers at every door, while connections are cut at random, and workers and the API process are killed: each reader ends with
 * exactly what was committed, each row once, in order, and one end. `EVERTHREAD_FAULT_SEED` changes it.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { HttpClient } from '../../src/client/http/http-client.ts';
import type { ThreadEvent } from '../../src/core/event/thread-event.ts';
import { findFreePorts } from '../../src/temporal-service/free-port.ts';
import { says } from '../../src/testing/index.ts';
import { type CuttingProxy, cuttingProxy } from '../support/cutting-proxy.ts';
import { eventually } from '../support/eventually.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { PATIENCE } from '../support/killing.ts';
import { isLong } from '../support/long-form.ts';
import { askChat, type ChatAnswer, textOf } from '../support/read-chat.ts';
import { readStream, type Told } from '../support/read-stream.ts';
import { closeAfterTest } from '../support/runtime.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { StandardClient, type StandardThread } from '../support/standard-client.ts';
import { tellByOthers } from './client-ordeal.ts';

const SEED = Number(process.env.EVERTHREAD_FAULT_SEED || 20_261_124);
const PIECES = 30;
const PIECE_MS = 20;
/** Bytes that reach readers between two cuts. */
const MOST_BYTES = 6000;

export interface Disconnects {
  readonly threads: number;
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
  readonly proxy: CuttingProxy;
  readonly isOver: () => boolean;
}

export function describeDisconnects(disconnects: Disconnects): void {
  describe('streams that break', () => ordeal(disconnects));
}

function ordeal({ threads, cuts, deaths, ofOthers }: Disconnects): void {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster({
      script: ({ messages }) =>
        says(answerTo(String(messages.findLast(({ role }) => role === 'user')?.content)), {
          chunks: PIECES,
          chunkDelayMs: PIECE_MS,
        }),
    });
    await cluster.keep(2);
  });
  afterAll(() => cluster?.close());

  it(
    `${threads} threads told at every door over ${cuts} cut connections, and ${ofOthers.threads} by each client of others over ${ofOthers.cuts}, under ${deaths} deaths, are told whole, once and in order (seed ${SEED})`,
    async () => {
      const random = seededRandom(SEED);
      const [port = 0] = await findFreePorts(1);
      let api = await startApi(cluster, port);
      closeAfterTest(() => end(api));
      const proxy = await cuttingProxy(`http://127.0.0.1:${port}`);
      let died = 0;
      const mayEnd = () => died >= deaths;
      const isOver = () => mayEnd() && proxy.cuts >= cuts;
      const work = Promise.all(
        Array.from({ length: threads }, () => tellAtEveryDoor({ cluster, proxy, isOver })),
      );
      proxy.cut(...Array.from({ length: cuts }, () => 1 + random.below(MOST_BYTES)));
      const dying = (async () => {
        for (; died < deaths; died++) {
          const before = proxy.cuts;
          await eventually('streams go on', () => proxy.cuts > before || proxy.cuts >= cuts, PATIENCE[0]);
          await delay(random.below(PIECES * PIECE_MS));
          if (died % 2 === 0) {
            await end(api);
            api = await startApi(cluster, port);
          } else {
            await random.pick(cluster.workers).end('SIGKILL');
            await cluster.keep(2);
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
      const [figures] = await Promise.all([told, dying, work]);
      if (isLong) process.stdout.write(`${JSON.stringify(figures)}\n`);
    },
    2 * PATIENCE[0],
  );
}

/** The API process of this cluster, at this port. */
async function startApi({ folder, taskQueue }: Cluster, port: number): Promise<ChildProcess> {
  const program = join(import.meta.dirname, '..', 'support', 'api-process.ts');
  const store = `sqlite:${join(folder, 'store.db')}?synchronous=normal`;
  const child = fork(program, [store, taskQueue, String(port)]);
  await once(child, 'message');
  return child;
}

async function end(api: ChildProcess): Promise<void> {
  if (api.exitCode !== null || api.signalCode !== null) return;
  api.kill('SIGKILL');
  await once(api, 'exit');
}

/** A thread that is spoken to by a chat, turn after turn, and read at every other door until it is terminated. */
async function tellAtEveryDoor(run: Run): Promise<void> {
  const { cluster, proxy, isOver } = run;
  const threadId = randomUUID();
  const first = { id: 'm-0', content: 'turn-0' };
  await cluster.client.startThread({ agent: 'helper', threadId, messages: [first] });
  const events = `${proxy.url}/v1/threads/${threadId}/events`;
  const logs = [readLog(events, 'sse'), readLog(events, 'ndjson'), readWithClient(proxy.url, threadId)];
  const standard = await openStandard(proxy.url, threadId);
  let turns = 0;
  for (; turns < 2 || !isOver(); turns++) await chat(proxy.url, threadId, turns);
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
}

/** The rows of its log, from any number of connections; rejects where its end is not told once. */
async function readLog(url: string, format: 'sse' | 'ndjson'): Promise<ThreadEvent[]> {
  const rows: ThreadEvent[] = [];
  let last = '0';
  let ends = 0;
  const hear = ({ id, event, data }: Told) => {
    if (event === 'message') rows.push(data as ThreadEvent);
    if (event === 'end') ends += 1;
    last = id;
    return false;
  };
  while (ends === 0) {
    const back = format === 'sse' ? { headers: { 'last-event-id': last } } : {};
    const from = format === 'sse' ? url : `${url}?after=${last}`;
    await readStream(from, { format, ...back, until: hear }).catch(() => delay(20));
  }
  expect(ends).toBe(1);
  return rows;
}

async function readWithClient(url: string, threadId: string): Promise<ThreadEvent[]> {
  const client = await HttpClient.connect({ url, patienceMs: PATIENCE[0] });
  closeAfterTest(() => client.close());
  const rows: ThreadEvent[] = [];
  for await (const row of client.events(threadId)) rows.push(row);
  return rows;
}

/** One turn of a chat: posted until it is told to its end, or read where it goes on, as a page does that comes back. */
async function chat(url: string, threadId: string, turn: number): Promise<void> {
  const said = `turn-${turn}`;
  const message = { id: `m-${turn}`, role: 'user', parts: [{ type: 'text', text: said }] };
  const body = { id: threadId, messages: [message], trigger: 'submit-message' };
  const chats = `${url}/v1/agents/helper/chat`;
  const ask = (resume: boolean): Promise<ChatAnswer | null> =>
    (resume ? askChat(`${chats}/${threadId}/stream`, { method: 'GET' }) : askChat(chats, { body })).catch(
      () => null,
    );
  let sent = false;
  for (let asked = 0; ; asked++) {
    const answer = await ask(sent && asked % 2 === 1);
    sent ||= answer?.status === 200;
    if (!answer?.done || answer.status !== 200) {
      await delay(20);
      continue;
    }
    expect([said, textOf(answer.chunks)]).toEqual([said, answerTo(said)]);
    expect(answer.chunks.filter(({ type }) => type === 'start')).toHaveLength(1);
    expect(answer.chunks.filter(({ type }) => type === 'finish')).toHaveLength(1);
    return;
  }
}

async function openStandard(url: string, threadId: string): Promise<StandardThread> {
  const client = new StandardClient({ endpoint: `${url}/api` });
  for (;;) {
    try {
      const thread = await client.open(threadId);
      closeAfterTest(async () => thread.close());
      return thread;
    } catch {
      await delay(20);
    }
  }
}

/** It shows what is stored, and has at no time shown a text that is not the beginning of an answer. */
async function expectStandard(thread: StandardThread, threadId: string): Promise<void> {
  const shown = () =>
    thread.shown().map(({ role, content, status }) => `${role} ${status ?? 'completed'}: ${content}`);
  let stored: string[] = [];
  const read = async () => {
    const rows = await thread.stored().catch(() => []);
    stored = rows.map(({ role, content, status }) => `${role} ${status ?? 'completed'}: ${content}`);
    return stored.length > 0 && stored.join() === shown().join();
  };
  await eventually(`the client of Standard Agents shows thread ${threadId}`, read, PATIENCE[0]).catch(() =>
    expect(shown()).toEqual(stored),
  );
  const texts = new Map<string, string>();
  const answers = new Set(stored.map((line) => line.slice(line.indexOf(': ') + 2)));
  for (const frame of thread.frames) {
    if (frame.type === 'message_data') texts.set(frame.data.id, frame.data.content ?? '');
    else if (frame.type === 'message_chunk' && texts.has(frame.message_id))
      texts.set(frame.message_id, texts.get(frame.message_id) + frame.chunk);
    else continue;
    const text = texts.get(frame.message_id ?? frame.data.id) as string;
    if (![...answers].some((answer) => answer.startsWith(text)))
      throw new Error(`Thread ${threadId} was shown what begins no message: ${text.slice(0, 2000)}`);
  }
}
