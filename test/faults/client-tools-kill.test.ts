/** Tools that clients run themselves, while workers die: what is waited for outlives them, a result is taken without a worker, and the agent goes on from it once. */
import { randomUUID } from 'node:crypto';
import { HttpAgent } from '@ag-ui/client';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { isStepCount, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { z } from 'zod';
import { calls, says } from '../../src/testing/index.ts';
import { type TestApi, testApi } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';

const WEATHER = { name: 'weather', description: 'tells the weather', parameters: { type: 'object' } };

/** Asks, brings the result that `killed` is behind, and answers what it was told in the end. */
type Client = (at: {
  readonly api: TestApi;
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

describe('a tool that its client runs', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster({
      script({ messages }) {
        const result = messages.findLast(({ role }) => role === 'tool');
        if (!result) return calls('client__weather', { town: 'Oslo' });
        return says(`It is told: ${result.content}.`, { chunks: 10, chunkDelayMs: 50 });
      },
    });
    await cluster.keep(1);
  });
  afterAll(() => cluster?.close());

  it.each(Object.keys(CLIENTS))(
    'waits for its result without a worker, and is gone on with once: %s',
    async (name) => {
      const api = await testApi(cluster);
      const threadId = randomUUID();
      // Nobody works until the result is there, and whoever begins to work then dies in mid-answer.
      let dying: Promise<unknown> | undefined;
      const killed = async () => {
        await cluster.workers[0]?.end('SIGKILL');
        dying = (async () => {
          await cluster.keep(1);
          await eventually('its answer', async () => {
            const events = await cluster.store.events.read(threadId, 0);
            return events.some(({ type }) => type === 'model.chunk');
          });
          await cluster.workers[0]?.end('SIGKILL');
          await cluster.keep(1);
        })();
      };
      const told = await CLIENTS[name]?.({ api, threadId, killed });
      await dying;
      expect(told).toBe('It is told: rain.');
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
