/**
 * Clients that others have made, as they are published, while the worker is killed in mid-answer and their connections are cut: each ends with
 * exactly what is stored, and nothing is done twice.
 */
import { randomUUID } from 'node:crypto';
import { HttpAgent } from '@ag-ui/client';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { streamText } from 'ai';
import OpenAI from 'openai';
import { testApi } from '../support/api.ts';
import { cuttingProxy } from '../support/cutting-proxy.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { eventually } from '../support/runtime.ts';
import { seededRandom } from '../support/seeded-random.ts';

const SEED = Number(process.env.EVERTHREAD_FAULT_SEED || 20_261_125);

interface Thread {
  readonly url: string;
  readonly threadId: string;
}

/** Tells a text to a thread, and answers what the client has in the end. */
type Tell = (thread: Thread, text: string) => Promise<string>;

const openai = ({ url }: Thread) => new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 });
const completion = ({ threadId }: Thread, text: string) => ({
  model: 'helper',
  messages: [{ role: 'user' as const, content: text }],
  metadata: { thread_id: threadId },
});

/** A stream that breaks just ends: this client cancels what has failed, and leaves unhandled that it cannot (1.0.0). */
async function fetchToCut(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }));
      if (done || !value) controller.close();
      else controller.enqueue(value);
    },
    cancel: () => reader.cancel().catch(() => undefined),
  });
  return new Response(body, response);
}

const CLIENTS: Readonly<Record<string, Tell>> = {
  async 'openai, as a stream'(thread, text) {
    const stream = openai(thread).chat.completions.stream(completion(thread, text));
    return (await stream.finalChatCompletion()).choices[0]?.message.content ?? '';
  },
  async 'openai, as a whole'(thread, text) {
    const { choices } = await openai(thread).chat.completions.create(completion(thread, text));
    return choices[0]?.message.content ?? '';
  },
  async 'the AI SDK, by its OpenAI-compatible provider'({ url, threadId }, text) {
    const provider = createOpenAICompatible({ name: 'everthread', baseURL: `${url}/v1` });
    const failures: unknown[] = [];
    const { textStream } = streamText({
      model: provider('helper'),
      prompt: text,
      headers: { 'x-thread-id': threadId },
      maxRetries: 0,
      onError: ({ error }) => {
        failures.push(error);
      },
    });
    let told = '';
    for await (const piece of textStream) told += piece;
    if (failures.length > 0) throw failures[0];
    return told;
  },
  async 'AG-UI'({ url, threadId }, text) {
    const agent = new HttpAgent({ url: `${url}/ag-ui/helper`, threadId, fetch: fetchToCut });
    agent.addMessage({ id: `said-${threadId.slice(0, 50)}`, role: 'user', content: text });
    let ended = false;
    agent.subscribe({
      onRunFinishedEvent() {
        ended = true;
      },
      // Else the client writes it to the console; its types do not have what it reads.
      onRunFailed: () => ({ stopPropagation: true }) as never,
    });
    await agent.runAgent();
    if (!ended) throw new Error('The stream was cut.');
    return String(agent.messages.at(-1)?.content);
  },
};

describe('a client that others have made', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster();
    await cluster.keep(1);
  });
  afterAll(() => cluster?.close());

  /** Each client with a thread of its own. */
  const toEach = <T>(tell: (name: string, client: Tell, threadId: string) => T): T[] =>
    Object.entries(CLIENTS).map(([name, client]) => tell(name, client, randomUUID()));
  const text = 'use write 2 slowly';
  const answer = `Answered "${text}" after 2 tool results.`;

  async function expectOnce(threadId: string): Promise<void> {
    await cluster.client.waitForIdle(threadId);
    const transcript = await cluster.transcript(threadId);
    expect([transcript.filter((line) => line.startsWith('user: ')), transcript.at(-1)]).toEqual([
      [`user: ${text}`],
      `assistant: ${answer}`,
    ]);
    expect(cluster.ledger(threadId)).toHaveLength(2);
  }

  it('has the exact answer when the worker is killed while it streams', async () => {
    const { url } = await testApi(cluster);
    const threads: string[] = [];
    const told = toEach(async (name, tell, threadId) => {
      threads.push(threadId);
      return [name, await tell({ url, threadId }, text)];
    });
    const streams = async (threadId: string) =>
      (await cluster.store.events.read(threadId, 0, 1000)).some(({ type }) => type === 'model.chunk');
    await eventually('all of them stream', async () =>
      (await Promise.all(threads.map(streams))).every(Boolean),
    );
    const [worker] = cluster.workers;
    await worker?.end('SIGKILL');
    await cluster.keep(1);
    expect(await Promise.all(told)).toEqual(Object.keys(CLIENTS).map((name) => [name, answer]));
    for (const threadId of threads) await expectOnce(threadId);
  }, 300_000);

  it(`that is cut off again and again, and asks the same again, has it too (seed ${SEED})`, async () => {
    const random = seededRandom(SEED);
    const api = await testApi(cluster);
    const CUTS = 20;
    await Promise.all(
      toEach(async (name, tell, threadId) => {
        const proxy = await cuttingProxy(api.url);
        proxy.cut(...Array.from({ length: CUTS }, () => 1 + random.below(2500)));
        let told: string | null = null;
        for (let asked = 0; asked === 0 || told === null; asked++)
          told = await tell({ url: proxy.url, threadId }, text).catch(() => null);
        expect([name, told]).toEqual([name, answer]);
        expect(proxy.cuts).toBeGreaterThan(0);
        await expectOnce(threadId);
      }),
    );
  }, 300_000);
});
