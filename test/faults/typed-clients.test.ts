/** Clients that parse the answer, across a tool, an answer that does not fit, and a worker that is killed after twenty deltas. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Output, streamText } from 'ai';
import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { type ServedApi, serveApi } from '../../src/cli/serve/serve-api.ts';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import { createApi } from '../../src/server/api/create-api.ts';
import { calls, says } from '../../src/testing/index.ts';
import { eventually } from '../support/eventually.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';

const schema = z.object({ words: z.array(z.string()) });
const VALUE = { words: Array.from({ length: 60 }, (_, n) => `word-${n}`) };
const ANSWER = JSON.stringify(VALUE);

type ParseStream = (url: string, thread: string) => Promise<{ pieces: string[]; value: unknown }>;

const CLIENTS: Readonly<Record<string, ParseStream>> = {
  async "OpenAI's"(url, thread) {
    const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 });
    const pieces: string[] = [];
    const stream = openai.chat.completions.stream({
      model: 'helper',
      messages: [{ role: 'user', content: 'Words, please.' }],
      metadata: { thread_id: thread },
      response_format: zodResponseFormat(schema, 'words'),
    });
    stream.on('content', (delta) => void pieces.push(delta));
    const { choices } = await stream.finalChatCompletion();
    return { pieces, value: choices[0]?.message.parsed };
  },
  async "the AI SDK's"(url, thread) {
    const options = { name: 'everthread', baseURL: `${url}/v1`, supportsStructuredOutputs: true };
    const { textStream, output } = streamText({
      model: createOpenAICompatible(options)('helper'),
      prompt: 'Words, please.',
      headers: { 'x-thread-id': thread },
      maxRetries: 0,
      output: Output.object({ schema }),
    });
    const pieces: string[] = [];
    for await (const piece of textStream) pieces.push(piece);
    return { pieces, value: await output };
  },
};

describe('a client that parses a streamed answer', () => {
  let cluster: Cluster;
  let served: ServedApi;
  beforeAll(async () => {
    cluster = await startCluster({
      script: ({ messages }) => {
        if (!messages.some(({ role }) => role === 'tool')) return calls('touch', { line: '1' });
        const isAskedAgain = String(messages.at(-1)?.content).startsWith('Your answer was not accepted');
        return isAskedAgain
          ? says(ANSWER, { chunks: 60, chunkDelayMs: 100 })
          : says('I know some.', { chunks: 3 });
      },
    });
    served = await serveApi(createApi({ client: cluster.client }), { host: '127.0.0.1', port: 0 });
  });
  afterAll(async () => {
    await served?.close();
    await cluster?.close();
  });

  it.each(Object.keys(CLIENTS))(
    '%s reads the value alone',
    async (name) => {
      await cluster.keep(1);
      const thread = `words-${name.replaceAll(/\W/g, '')}`;
      const reading = CLIENTS[name]?.(served.url, thread);
      const streamed = async () => {
        const events = await cluster.store.events.read(thread, 0, 10_000).catch(() => []);
        const behind = events.findLastIndex(({ type }) => type === 'output.rejected');
        if (behind < 0) return '';
        return eventsOf(events.slice(behind), 'model.chunk')
          .map(({ data }) => data.delta)
          .join('');
      };
      await eventually('twenty deltas', async () => (await streamed()).length > (20 * ANSWER.length) / 60);
      await cluster.workers[0]?.end('SIGKILL');
      await cluster.keep(1);
      expect(await reading).toEqual({ pieces: [ANSWER], value: VALUE });
      expect(cluster.ledger(thread)).toHaveLength(1);
      const events = await cluster.store.events.read(thread, 0, 10_000);
      expect(eventsOf(events, 'output.rejected')).toHaveLength(1);
    },
    240_000,
  );
});
