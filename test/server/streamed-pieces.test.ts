/** Reasoning, arguments and cut characters on their way from a provider to readers over HTTP. */
import { randomUUID } from 'node:crypto';
import { HttpAgent } from '@ag-ui/client';
import { describe, expect, it } from '@jest/globals';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import type { Provider, ProviderFactory, ProviderStreamChunk } from '../../src/core/message/provider.ts';
import { defineTool } from '../../src/definitions/index.ts';
import type { ThreadStore } from '../../src/store/store.ts';
import type { ScriptedModel } from '../../src/testing/index.ts';
import { testApi } from '../support/api.ts';
import { askChat, type Chunk, textOf } from '../support/read-chat.ts';
import { eventually, helperRegistry, testRuntime } from '../support/runtime.ts';

const FINISH = {
  finishReason: 'stop',
  usage: { promptTokens: 1, completionTokens: 1, totalTokens: 2 },
} as const;

/** Yields each piece only when the piece before it is in the log of the thread. */
function streaming(log: { store?: ThreadStore; threadId: string }, logged: RegExp) {
  const answers: ProviderStreamChunk[][] = [
    [
      { type: 'reasoning-delta', delta: 'I add\ud83d' },
      { type: 'reasoning-delta', delta: '\ude00 both.' },
      { type: 'content-delta', delta: 'Adding \ud83d' },
      { type: 'content-delta', delta: '\ude01.' },
      { type: 'tool-call-start', id: 'c1', name: 'add' },
      { type: 'tool-call-delta', id: 'c1', argumentsDelta: '{"a":' },
      { type: 'tool-call-delta', id: 'c1', argumentsDelta: '1}' },
      { type: 'tool-call-done', id: 'c1' },
      { type: 'finish', ...FINISH, finishReason: 'tool_calls' },
    ],
    [
      { type: 'content-delta', delta: 'Three.' },
      { type: 'finish', ...FINISH },
    ],
  ];
  const rows = async () =>
    eventsOf((await log.store?.events.read(log.threadId, 0)) ?? [], 'model.chunk').length;
  async function* stream() {
    let written = await rows();
    for (const chunk of answers.shift() ?? []) {
      yield chunk;
      if (!logged.test(chunk.type)) continue;
      await eventually('the piece in the log', async () => (await rows()) > written);
      written = await rows();
    }
  }
  const provider = {
    name: 'gated',
    specificationVersion: '1',
    stream: async () => stream(),
    generate: async () => undefined,
  };
  return (() => provider as unknown as Provider) satisfies ProviderFactory;
}

const add = defineTool({ description: 'adds', execute: () => ({ status: 'success', result: '3' }) });

/** `logged`: kinds of pieces that come into the log. */
async function serve(prompt: object = {}, logged = /-delta$/) {
  const log: { store?: ThreadStore; threadId: string } = { threadId: randomUUID() };
  const model = { provider: streaming(log, logged) } as unknown as ScriptedModel;
  const runtime = await testRuntime({ registry: helperRegistry({ model, tools: { add }, prompt }) });
  log.store = runtime.store;
  return { runtime, threadId: log.threadId, api: await testApi(runtime) };
}

const joined = (chunks: readonly Chunk[], type: string, field: string) =>
  chunks.flatMap((chunk) => (chunk.type === type ? [chunk[field as keyof Chunk]] : [])).join('');

describe('readers over HTTP', () => {
  it.each([5, 6, 7])(
    'useChat of AI SDK %i streams reasoning, text and arguments without splitting characters',
    async (version) => {
      const { api, threadId, runtime } = await serve();
      const message = { id: 'm-1', role: 'user', parts: [{ type: 'text', text: '1 + 2?' }] };
      const body = { id: threadId, messages: [message], trigger: 'submit-message' };
      const chat = `${api.url}/v1/agents/helper/chat?ui=${version}`;
      const { chunks } = await askChat(chat, { body });
      expect(joined(chunks, 'reasoning-delta', 'delta')).toBe('I add\u{1f600} both.');
      expect(joined(chunks, 'tool-input-delta', 'inputTextDelta')).toBe('{"a":1}');
      expect(textOf(chunks)).toContain('Adding \u{1f601}.');
      const rows = eventsOf(await runtime.store.events.read(threadId, 0), 'model.chunk');
      expect(rows.map(({ data }) => data.reasoning ?? data.input?.delta ?? data.delta)).toEqual([
        'I add',
        '\u{1f600} both.',
        'Adding ',
        '\u{1f601}.',
        '{"a":',
        '1}',
        'Three.',
      ]);
      await runtime.client.waitForIdle(threadId);
      expect((await askChat(chat, { body })).chunks).toEqual(chunks);
    },
  );

  it('receive no reasoning if the prompt excludes it', async () => {
    const { runtime, threadId } = await serve(
      { reasoning: { exclude: true } },
      /^(content|tool-call)-delta$/,
    );
    await runtime.client.startThread({ agent: 'helper', threadId, messages: [{ content: '1 + 2?' }] });
    await runtime.client.waitForIdle(threadId);
    expect(JSON.stringify(await runtime.store.events.read(threadId, 0))).not.toContain('both.');
  });

  it('AG-UI’s client accepts the same pieces', async () => {
    const { api, threadId } = await serve();
    const agent = new HttpAgent({ url: `${api.url}/ag-ui/helper`, threadId });
    const told: string[] = [];
    agent.subscribe({ onEvent: ({ event }) => void told.push(event.type) });
    agent.addMessage({ id: randomUUID(), role: 'user', content: '1 + 2?' });
    await agent.runAgent();
    expect(told.filter((type) => /REASONING_MESSAGE_CONTENT|TOOL_CALL_ARGS/.test(type))).toHaveLength(4);
    expect(agent.messages.map(({ role, content }) => `${role}: ${content ?? ''}`)).toEqual([
      'user: 1 + 2?',
      'reasoning: I add\u{1f600} both.',
      'assistant: Adding \u{1f601}.',
      'tool: 3',
      'assistant: Three.',
    ]);
  });
});
