/** Parts of a request other than text (definitions §5.2, §15.5): images of results, reasoning, one call at a time. */
import type { LanguageModelV2Prompt, LanguageModelV3Prompt, LanguageModelV4Prompt } from '@ai-sdk/provider';
import type { ProviderMessage, ProviderRequest, ProviderTool } from '../../src/core/message/provider.ts';
import { createAccumulator } from '../../src/models/accumulate.ts';
import { toCallOptions } from '../../src/models/ai-sdk-request.ts';
import { runAttempt } from '../../src/models/attempt.ts';
import { DEFAULT_ATTEMPT_LIMITS } from '../../src/models/attempt-plan.ts';
import type { AiSdkLanguageModel } from '../../src/models/index.ts';
import { toChatBody } from '../../src/models/openai-request.ts';
import { fromCompletion, fromCompletionChunks } from '../../src/models/openai-response.ts';
import { says, scriptedModel } from '../../src/testing/index.ts';
import { ask, collect, defineTestModel } from './support.ts';

const image = { type: 'image', data: 'QUFB', mediaType: 'image/png' } as const;
const asks: ProviderMessage = {
  role: 'assistant',
  content: null,
  toolCalls: [
    { id: 'a', name: 'draw', arguments: {} },
    { id: 'b', name: 'look', arguments: {} },
  ],
};
const results: ProviderMessage[] = [
  { role: 'tool', toolCallId: 'a', toolName: 'draw', content: 'drawn', attachments: [image] },
  { role: 'tool', toolCallId: 'b', toolName: 'look', content: 'seen' },
];
const next: ProviderMessage = { role: 'user', content: 'and?' };
const withImages = ask('', { messages: [asks, ...results, next] });

const model = (provider: string, specificationVersion: string) =>
  ({ provider, specificationVersion, modelId: 'm' }) as AiSdkLanguageModel;
const promptOf = (request: ProviderRequest, provider: string, version: string) =>
  toCallOptions(request, model(provider, version)).prompt;

describe('images of tool results', () => {
  const explained = { type: 'text', text: 'Images of the result of draw:' };

  test('[definitions 15.5] chat completions get them as a message after the group of results', () => {
    expect(toChatBody(withImages, 'openai').messages.slice(1)).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'drawn' },
      { role: 'tool', tool_call_id: 'b', content: 'seen' },
      {
        role: 'user',
        content: [explained, { type: 'image_url', image_url: { url: 'data:image/png;base64,QUFB' } }],
      },
      { role: 'user', content: 'and?' },
    ]);
  });

  test('[definitions 15.5] chat completions through the AI SDK do too, as it would send their bytes as text', () => {
    const roles = promptOf(withImages, 'openai.chat', 'v4').map((each) => (each as { role: string }).role);
    expect(roles).toEqual(['assistant', 'tool', 'tool', 'user', 'user']);
  });

  const head = { type: 'tool-result', toolCallId: 'a', toolName: 'draw' } as const;
  const text = { type: 'text', text: 'drawn' } as const;

  test('[definitions 15.5] other AI SDK models get them inside the result, in the format of each version', () => {
    const v2: LanguageModelV2Prompt[number] = {
      role: 'tool',
      content: [
        {
          ...head,
          output: { type: 'content', value: [text, { type: 'media', data: 'QUFB', mediaType: 'image/png' }] },
        },
      ],
    };
    const v3: LanguageModelV3Prompt[number] = {
      role: 'tool',
      content: [
        {
          ...head,
          output: {
            type: 'content',
            value: [text, { type: 'image-data', data: 'QUFB', mediaType: 'image/png' }],
          },
        },
      ],
    };
    const v4: LanguageModelV4Prompt[number] = {
      role: 'tool',
      content: [
        {
          ...head,
          output: {
            type: 'content',
            value: [text, { type: 'file', data: { type: 'data', data: 'QUFB' }, mediaType: 'image/png' }],
          },
        },
      ],
    };
    expect(promptOf(withImages, 'anthropic.messages', 'v2')[1]).toEqual(v2);
    expect(promptOf(withImages, 'anthropic.messages', 'v3')[1]).toEqual(v3);
    expect(promptOf(withImages, 'anthropic.messages', 'v4')[1]).toEqual(v4);
    expect(promptOf(withImages, 'anthropic.messages', 'v4')).toHaveLength(4);
  });
});

describe('reasoning', () => {
  const thought: ProviderMessage = { role: 'assistant', content: 'so', reasoning: 'hm' };
  const request = ask('', { messages: [thought] });

  test('[definitions 6.1] is sent back in the field that servers use, and not to OpenAI, which has none', () => {
    expect(toChatBody(request, 'compatible').messages).toEqual([
      { role: 'assistant', content: 'so', reasoning_content: 'hm' },
    ]);
    expect(toChatBody(request, 'openai').messages).toEqual([{ role: 'assistant', content: 'so' }]);
  });

  test('[definitions 6.1] is a separate part in the AI SDK, before the text', () => {
    expect(promptOf(request, 'any.chat', 'v4')).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'hm' },
          { type: 'text', text: 'so' },
        ],
      },
    ]);
  });

  test('[definitions 5.6] is requested with the model’s own effort if it has one; null turns it off', () => {
    const asked = (effort: string | null | undefined) => ask('x', { reasoning: { level: 66, effort } });
    expect(toChatBody(asked('xhigh'), 'openai').reasoning_effort).toBe('xhigh');
    expect(toChatBody(asked(null), 'openai')).not.toHaveProperty('reasoning_effort');
    expect(toChatBody(asked(undefined), 'openai').reasoning_effort).toBe('medium');
    expect(toCallOptions(asked('xhigh'), model('any.chat', 'v4')).reasoning).toBe('xhigh');
    expect(toCallOptions(asked(null), model('any.chat', 'v4')).reasoning).toBe('none');
  });

  test.each([true, false])(
    '[definitions 6.1] is neither streamed nor returned if excluded (streaming %j)',
    async (streams) => {
      const seen: string[] = [];
      const tested = defineTestModel('m', scriptedModel([says('so', { reasoning: 'hm' })]).provider, {
        capabilities: { supportsStreaming: streams },
      });
      const result = await runAttempt({
        model: tested,
        request: () => ask('x', { reasoning: { exclude: true } }),
        signal: new AbortController().signal,
        limits: DEFAULT_ATTEMPT_LIMITS,
        requestTimeoutMs: 1000,
        onDelta: (kind) => void seen.push(kind),
        now: Date.now,
      });
      expect(result).toMatchObject({ ok: true, response: { content: 'so' } });
      expect(result.ok && result.response).not.toHaveProperty('reasoning');
      expect(seen).not.toContain('reasoning');
    },
  );
});

const add: ProviderTool = {
  type: 'function',
  function: { name: 'add', description: 'Adds.', parameters: { type: 'object' } },
};

describe('[definitions 4] the allowed providers', () => {
  it('are sent to routers in their format, and not to OpenAI itself', () => {
    const request = ask('x', { includedProviders: ['a', 'b'] });
    expect(toChatBody(request, 'compatible')).toMatchObject({ provider: { only: ['a', 'b'] } });
    expect(toChatBody(request, 'openai')).not.toHaveProperty('provider');
    expect(toChatBody(ask('x'), 'compatible')).not.toHaveProperty('provider');
  });
});

describe('[definitions 5.2] provider data to send back', () => {
  const extra = { google: { thought_signature: 's' } };
  const details = [{ type: 'encrypted', data: 'xyz' }] as const;
  const call = {
    id: 'a',
    type: 'function',
    function: { name: 'add', arguments: '{}' },
    extra_content: extra,
  };
  const answer = { tool_calls: [call], reasoning_details: details };

  it('is stored from complete and from streamed answers', async () => {
    const whole = { id: 'r', choices: [{ message: answer, finish_reason: 'tool_calls' }] };
    const kept = { toolCalls: [{ id: 'a', extraContent: extra }], reasoningDetails: details };
    expect(fromCompletion(whole as never)).toMatchObject(kept);
    const delta = { ...answer, tool_calls: [{ index: 0, ...call }] };
    const chunks = (async function* () {
      yield { id: 'r', choices: [{ delta, finish_reason: 'tool_calls' }] } as never;
    })();
    const accumulator = createAccumulator();
    for (const chunk of await collect(fromCompletionChunks(chunks))) accumulator.add(chunk);
    expect(accumulator.response()).toMatchObject(kept);
  });

  it('is sent to compatible servers, and not to OpenAI, which refuses unknown fields', () => {
    const message = {
      role: 'assistant',
      content: null,
      toolCalls: [{ id: 'a', name: 'add', arguments: {}, extraContent: extra }],
      reasoningDetails: details,
    } as const;
    const sent = (dialect: 'openai' | 'compatible') =>
      toChatBody({ model: 'm', messages: [message] }, dialect).messages[0];
    expect(sent('compatible')).toEqual({ role: 'assistant', content: null, ...answer });
    expect(JSON.stringify(sent('openai'))).not.toMatch(/signature|xyz/);
  });
});

describe('[definitions 22.9] no parallel tool calls', () => {
  const request = (rest: Partial<ProviderRequest> = {}) =>
    ask('x', { tools: [add], parallelToolCalls: false, ...rest });

  test('is sent to chat completions as parallel_tool_calls: false', () => {
    expect(toChatBody(request(), 'openai')).toMatchObject({ parallel_tool_calls: false });
  });

  test.each([
    ['openai.responses', { openai: { parallelToolCalls: false, store: false } }],
    ['groq.chat', { groq: { parallelToolCalls: false } }],
    ['anthropic.messages', { anthropic: { disableParallelToolUse: true } }],
    ['google.generative-ai', undefined],
  ])('is an option of %s in the AI SDK: %j', (provider, options) => {
    expect(toCallOptions(request(), model(provider, 'v4')).providerOptions).toEqual(options);
  });

  test('is overridden by the options of the author, and omitted without tools', () => {
    const own = request({ providerOptions: { parallelToolCalls: true, seed: 1 } });
    expect(toCallOptions(own, model('openai.chat', 'v4')).providerOptions).toEqual({
      openai: { parallelToolCalls: true, seed: 1 },
    });
    expect(toCallOptions(request({ tools: [] }), model('openai.chat', 'v4')).providerOptions).toBeUndefined();
  });
});
