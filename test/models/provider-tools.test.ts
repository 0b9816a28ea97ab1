/** Tools that the provider runs itself (definitions §6.3): how each backend requests them, and their results. */
import type { LanguageModelV2ProviderDefinedTool, LanguageModelV4ProviderTool } from '@ai-sdk/provider';
import type { ProviderTool } from '../../src/core/message/provider.ts';
import { toCallOptions } from '../../src/models/ai-sdk-request.ts';
import { type AiSdkLanguageModel, aiSdk } from '../../src/models/index.ts';
import { toChatBody } from '../../src/models/openai-request.ts';
import { ask, collect } from './support.ts';

const model = (provider: string, specificationVersion: string) =>
  ({ provider, specificationVersion, modelId: 'm' }) as AiSdkLanguageModel;
const search: ProviderTool = {
  type: 'function',
  function: { name: 'anthropic.web_search_20250305', description: '', parameters: {} },
  executionMode: 'provider',
  options: { maxUses: 3 },
};
const add: ProviderTool = {
  type: 'function',
  function: { name: 'add', description: 'Adds.', parameters: { type: 'object' } },
};

describe('provider tools', () => {
  test('[definitions 6.3] are passed to the AI SDK by id, next to function tools', () => {
    const toolsOf = (tools: ProviderTool[], provider: string, version: string) =>
      toCallOptions(ask('x', { tools }), model(provider, version)).tools;
    const named = {
      id: 'anthropic.web_search_20250305',
      name: 'web_search_20250305',
      args: { maxUses: 3 },
    } as const;
    const v4: LanguageModelV4ProviderTool = { type: 'provider', ...named };
    const v2: LanguageModelV2ProviderDefinedTool = { type: 'provider-defined', ...named };
    expect(toolsOf([add, search], 'anthropic.messages', 'v4')).toEqual([
      { type: 'function', name: 'add', description: 'Adds.', inputSchema: { type: 'object' } },
      v4,
    ]);
    expect(toolsOf([search], 'anthropic.messages', 'v2')).toEqual([v2]);
    const short = { ...search, function: { ...search.function, name: 'web_search' } };
    expect(toolsOf([short], 'openai.responses', 'v4')).toMatchObject([
      { id: 'openai.web_search', name: 'web_search' },
    ]);
    const ofAnother = { ...short, executionProvider: 'openai' };
    expect(toolsOf([ofAnother, add], 'anthropic.messages', 'v4')).toMatchObject([{ name: 'add' }]);
    expect(toolsOf([ofAnother], 'anthropic.messages', 'v4')).toBeUndefined();
  });

  test('[definitions 6.3] are refused before the request is sent over chat completions, which have none', () => {
    expect(() => toChatBody(ask('x', { tools: [add, search] }), 'compatible')).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        message: expect.stringContaining('anthropic.web_search'),
      }),
    );
  });

  const content = [
    {
      type: 'tool-call',
      toolCallId: 's1',
      toolName: 'web_search',
      input: '{"q":"x"}',
      providerExecuted: true,
    },
    { type: 'tool-result', toolCallId: 's1', toolName: 'web_search', result: { partial: true } },
    { type: 'tool-result', toolCallId: 's1', toolName: 'web_search', result: { hits: 2 } },
    { type: 'tool-call', toolCallId: 's2', toolName: 'web_search', input: '{}', providerExecuted: true },
    { type: 'tool-result', toolCallId: 's2', toolName: 'web_search', result: 'no', isError: true },
    { type: 'tool-call', toolCallId: 's3', toolName: 'web_search', input: '{}', providerExecuted: true },
    { type: 'text', text: 'Found it.' },
  ];
  const stream = () => {
    const parts = [
      ...content.slice(0, -1),
      { type: 'text-delta', delta: 'Found it.' },
      { type: 'finish', finishReason: 'stop' },
    ];
    return {
      getReader: () => ({
        read: async () => ({ done: parts.length === 0, value: parts.shift() }),
        cancel: async () => {},
      }),
    };
  };
  const searching: AiSdkLanguageModel = {
    ...model('anthropic.messages', 'v4'),
    doGenerate: async () => ({ content, finishReason: 'stop', usage: {} }),
    doStream: async () => ({ stream: stream() }),
  };
  const told = [
    { id: 's1', name: 'web_search', status: 'completed', result: { hits: 2 } },
    { id: 's2', name: 'web_search', status: 'failed', result: 'no' },
    { id: 's3', name: 'web_search', status: 'in_progress' },
  ].map((each) => expect.objectContaining({ ...each, type: 'tool', provider: 'anthropic' }));

  test('[definitions 5.3] are reported with the answer, and not as tool calls', async () => {
    const response = await aiSdk(() => searching)({ apiKey: '' }).generate(ask('x'));
    expect(response).toMatchObject({ content: 'Found it.', finishReason: 'stop', providerTools: told });
    expect(response).not.toHaveProperty('toolCalls');
  });

  test('[definitions 5.4] are reported before the end of a streamed answer', async () => {
    const chunks = await collect(await aiSdk(() => searching)({ apiKey: '' }).stream(ask('x')));
    expect(chunks.map(({ type }) => type)).toEqual([
      'content-delta',
      'provider-tool-done',
      'provider-tool-done',
      'provider-tool-done',
      'finish',
    ]);
    expect(chunks.flatMap((chunk) => (chunk.type === 'provider-tool-done' ? [chunk.tool] : []))).toEqual(
      told,
    );
  });
});
