/**
 * Tools that clients run themselves, while workers die: an open call survives them, its result is accepted without a
 * worker, and the agent continues from it once.
 */
import { randomUUID } from 'node:crypto';
import { HttpAgent } from '@ag-ui/client';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { isStepCount, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { z } from 'zod';
import { type ServedApi, serveApi } from '../../src/cli/serve/serve-api.ts';
import { createApi } from '../../src/server/api/create-api.ts';
import { calls, hangs, says } from '../../src/testing/index.ts';
import { eventually } from '../support/eventually.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { killWorkers } from '../support/standing.ts';

const WEATHER = { name: 'weather', description: 'tells the weather', parameters: { type: 'object' } };

/** Asks a question, sends the tool's result once `killed` resolves, and returns the final answer. */
type Client = (at: {
  readonly api: ServedApi;
  readonly threadId: string;
  readonly killed: Kill;
}) => Promise<string>;
type Kill = () => Promise<void>;

const CLIENTS: Readonly<Record<string, Client>> = {
  'openai, as a whole': (at) => askOpenAi(at, false),
  'openai, as a stream': (at) => askOpenAi(at, true),
  async 'the AI SDK, by its OpenAI-compatible provider'({ api, threadId, killed }) {
    const provider = createOpenAICompatible({ name: 'everthread', baseURL: `${api.url}/v1` });
    const weather = tool({
      description: 'tells the weather',
      inputSchema: z.object({ town: z.string() }),
      execute: async () => {
        await killed();
        return 'rain';
      },
    });
    const { text } = streamText({
      model: provider('helper'),
      prompt: 'weather?',
      tools: { weather },
      stopWhen: isStepCount(2),
      headers: { 'x-thread-id': threadId },
    });
    return text;
  },
  async 'AG-UI'({ api, threadId, killed }) {
    const agent = new HttpAgent({ url: `${api.url}/ag-ui/helper`, threadId });
    agent.addMessage({ id: randomUUID(), role: 'user', content: 'weather?' });
    await agent.runAgent({ tools: [WEATHER] });
    const asked = agent.messages.findLast((message) => message.role === 'assistant');
    const [call] = asked?.toolCalls ?? [];
    expect(call?.function).toEqual({ name: 'weather', arguments: '{"town":"Oslo"}' });
    await killed();
    agent.addMessage({ id: randomUUID(), role: 'tool', toolCallId: String(call?.id), content: 'rain' });
    await agent.runAgent({ tools: [WEATHER] });
    return String(agent.messages.at(-1)?.content);
  },
};

async function askOpenAi({ api, threadId, killed }: Parameters<Client>[0], stream: boolean): Promise<string> {
  const client = new OpenAI({ baseURL: `${api.url}/v1`, apiKey: 'none', maxRetries: 0 });
  const ask = async (messages: OpenAI.ChatCompletionMessageParam[]) => {
    const tools = [{ type: 'function' as const, function: WEATHER }];
    const body = { model: 'helper', messages, tools, metadata: { thread_id: threadId } };
    const { choices } = await (stream
      ? client.chat.completions.stream(body).finalChatCompletion()
      : client.chat.completions.create(body));
    return choices[0]?.message as OpenAI.ChatCompletionMessage;
  };
  const asking = { role: 'user' as const, content: 'weather?' };
  const asked = await ask([asking]);
  const [call] = asked.tool_calls ?? [];
  await killed();
  const result = { role: 'tool' as const, tool_call_id: String(call?.id), content: 'rain' };
  return String((await ask([asking, asked, result])).content);
}

describe('a client tool', () => {
  let cluster: Cluster;
  let served: ServedApi;
  const threads = new Map<string, string>();
  const told = new Map<string, string>();

  /**
   * All clients have received their call before the worker dies, and all are being answered before the next worker
   * dies.
   */
  beforeAll(async () => {
    let heard = false;
    cluster = await startCluster({
      script({ messages }) {
        const result = messages.findLast(({ role }) => role === 'tool');
        if (!result) return calls('client__weather', { town: 'Oslo' });
        if (!heard) return hangs({ after: 'It is' });
        return says(`It is told: ${result.content}.`, { chunks: 10, chunkDelayMs: 50 });
      },
    });
    await cluster.keep(1);
    served = await serveApi(createApi({ client: cluster.client }), { host: '127.0.0.1', port: 0 });
    const names = Object.keys(CLIENTS);
    const dead = Promise.withResolvers<void>();
    let waiting = 0;
    const killed = async () => {
      waiting += 1;
      if (waiting === names.length) await killWorkers(cluster).then(dead.resolve, dead.reject);
      await dead.promise;
    };
    const asking = names.map(async (name) => {
      const threadId = randomUUID();
      threads.set(name, threadId);
      told.set(name, String(await CLIENTS[name]?.({ api: served, threadId, killed })));
    });
    // No worker runs until the results have been sent; the worker that starts then dies in the middle of its answers.
    const dying = dead.promise.then(async () => {
      await cluster.keep(1);
      for (const threadId of threads.values())
        await eventually('its answer', async () => {
          const events = await cluster.store.events.read(threadId, 0);
          return events.some(({ type }) => type === 'model.chunk');
        });
      await killWorkers(cluster);
      heard = true;
      await cluster.keep(1);
    });
    await Promise.all([dying, ...asking]);
  }, 240_000);
  afterAll(async () => {
    await served?.close();
    await cluster?.close();
  });

  it.each(Object.keys(CLIENTS))(
    'keeps its open call without a worker, and the agent continues once from its result: %s',
    async (name) => {
      expect(told.get(name)).toBe('It is told: rain.');
      const threadId = threads.get(name) as string;
      await cluster.client.waitForIdle(threadId);
      expect(await cluster.transcript(threadId)).toEqual([
        'user: weather?',
        'assistant:  -> client__weather',
        'tool client__weather success: rain',
        'assistant: It is told: rain.',
      ]);
    },
  );
});
