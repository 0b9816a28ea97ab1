/**
 * Readers of a thread on each endpoint of the HTTP API over connections that break: each reconnects as its own client
 * does, and checks what it receives.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { HttpClient } from '../../src/client/http/http-client.ts';
import type { ThreadEvent } from '../../src/core/event/thread-event.ts';
import { eventually } from '../support/eventually.ts';
import { PATIENCE } from '../support/killing.ts';
import { askChat, type ChatAnswer, textOf } from '../support/read-chat.ts';
import { readStream, type Told } from '../support/read-stream.ts';
import { closeAfterTest } from '../support/runtime.ts';
import { StandardClient, type StandardThread } from '../support/standard-client.ts';

/** The rows of a thread's log, read over any number of connections; rejects unless its end is reported exactly once. */
export async function readLog(url: string, format: 'sse' | 'ndjson'): Promise<ThreadEvent[]> {
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

export async function readWithClient(url: string, threadId: string): Promise<ThreadEvent[]> {
  const client = await HttpClient.connect({ url, patienceMs: PATIENCE[0] });
  closeAfterTest(() => client.close());
  const rows: ThreadEvent[] = [];
  for await (const row of client.events(threadId)) rows.push(row);
  return rows;
}

/**
 * One turn of a chat, as a page that reconnects: posted until its response is complete, or read from the stream that
 * goes on.
 */
export async function chat(
  url: string,
  threadId: string,
  { said, answer: text }: { readonly said: string; readonly answer: string },
): Promise<void> {
  const message = { id: `m-${said}`, role: 'user', parts: [{ type: 'text', text: said }] };
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
    expect([said, textOf(answer.chunks)]).toEqual([said, text]);
    expect(answer.chunks.filter(({ type }) => type === 'start')).toHaveLength(1);
    expect(answer.chunks.filter(({ type }) => type === 'finish')).toHaveLength(1);
    return;
  }
}

export async function openStandard(url: string, threadId: string): Promise<StandardThread> {
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

/** The page shows what is stored, and has never shown a text that is not the beginning of an answer. */
export async function expectStandard(thread: StandardThread, threadId: string): Promise<void> {
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
