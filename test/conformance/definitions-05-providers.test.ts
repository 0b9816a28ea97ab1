/** definitions §5 Providers written by authors, on real threads: answers are stored, errors are coded failures. */
import { describe, expect, it } from '@jest/globals';
import type { Provider, ProviderFactory, ProviderRequest } from '../../src/core/message/provider.ts';
import { defineTool } from '../../src/index.ts';
import type { ScriptedModel } from '../../src/testing/index.ts';
import { png } from '../support/image.ts';
import { helperRegistry, testRuntime } from '../support/runtime.ts';

const PNG = Buffer.from(png(2, 3));
const FINISH = {
  type: 'finish',
  finishReason: 'stop',
  usage: { promptTokens: 1, completionTokens: 1, totalTokens: 2 },
};
const says = (delta: string) => [{ type: 'content-delta', delta }, FINISH];

/** A provider that plays these answers in turn, and records its requests. */
function playing(...answers: readonly (readonly unknown[])[]) {
  return playingAs({}, ...answers);
}

/** Like `playing`, with more members on the provider. */
function playingAs(more: object, ...answers: readonly (readonly unknown[])[]) {
  const requests: ProviderRequest[] = [];
  const left = [...answers];
  const play: ProviderFactory = () =>
    ({
      name: 'play',
      specificationVersion: '1',
      async *stream(request: ProviderRequest) {
        requests.push(request);
        yield* left.shift() ?? says('no more');
      },
      generate: async () => undefined,
      ...more,
    }) as unknown as Provider;
  return { play, requests };
}

async function runtimeOf(provider: ProviderFactory, prompt = {}) {
  const add = defineTool({ description: 'Adds.', execute: async () => ({ status: 'success', result: '3' }) });
  const model = { provider } as ScriptedModel;
  return testRuntime({ registry: helperRegistry({ model, tools: { add }, prompt }) });
}

describe('definitions §5 providers', () => {
  it('[definitions 5.4] calls named at their start run, and carry their provider’s data back', async () => {
    const details = [{ type: 'encrypted', data: 'xyz' }];
    const { play, requests } = playing(
      [
        { type: 'tool-call-start', id: 'a', name: 'add', extraContent: { signature: 's1' } },
        { type: 'tool-call-done', id: 'a', arguments: {} },
        { ...FINISH, finishReason: 'tool_calls', reasoningDetails: details },
      ],
      says('Three.'),
    );
    const runtime = await runtimeOf(play, { reasoning: { include: true } });
    const id = await runtime.start('1 + 2?');
    expect(await runtime.transcript(id)).toEqual([
      'user: 1 + 2?',
      'assistant:  -> add',
      'tool add success: 3',
      'assistant: Three.',
    ]);
    expect(requests[1]?.messages.find(({ role }) => role === 'assistant')).toEqual({
      role: 'assistant',
      content: null,
      toolCalls: [{ id: 'a', name: 'add', arguments: {}, extraContent: { signature: 's1' } }],
      reasoningDetails: details,
    });
  });

  it('[definitions 5.4] images become attachments, searches are logged, and unknown kinds are named', async () => {
    const image = { data: PNG.toString('base64'), mediaType: 'image/png', revisedPrompt: 'a dot' };
    const { play } = playing([
      { type: 'image-done', index: 0, image },
      { type: 'web-search-done', result: { hits: 1 } },
      { type: 'audio-delta', data: 'x' },
      ...says('Here.'),
    ]);
    const runtime = await runtimeOf(play);
    const id = await runtime.start('Draw.');
    const answer = (await runtime.messages(id)).at(-1);
    expect(answer).toMatchObject({
      content: 'Here.',
      attachments: [
        {
          name: 'image-1.png',
          mimeType: 'image/png',
          size: PNG.length,
          width: 2,
          height: 3,
          description: 'a dot',
        },
      ],
      metadata: { providerTools: [{ name: 'web_search', result: { hits: 1 } }] },
    });
    const stored = await runtime.client.files(id).read(answer?.attachments?.[0]?.path ?? '');
    expect(Buffer.from(stored ?? new ArrayBuffer(0))).toEqual(PNG);
    const events = await runtime.store.events.read(id, 0);
    expect(events.filter(({ type }) => type === 'model.answered')).toMatchObject([
      { data: { ignored: ['audio-delta'] } },
    ]);
  });

  it('[definitions 5.1] a window reported by a provider limits the requests to its model', async () => {
    const getModelCapabilities = async () => ({ maxContextTokens: 200 });
    const { play, requests } = playingAs({ getModelCapabilities }, says('A.'), says('B.'));
    const runtime = await runtimeOf(play);
    const id = await runtime.start('x'.repeat(4000));
    await runtime.say(id, 'And?');
    // What the window cannot hold is cut in the middle.
    expect(requests.map((request) => JSON.stringify(request.messages).length > 4000)).toEqual([false, false]);
    expect(JSON.stringify(requests[1]?.messages)).toContain('And?');
  });

  it('[definitions 5.5] an invalid answer costs one request and fails the step, and the thread continues', async () => {
    const { play, requests } = playing(
      [{ type: 'tool-call-done', id: 'a', name: 'add', arguments: 7 }, FINISH],
      says('Here.'),
    );
    const runtime = await runtimeOf(play);
    const id = await runtime.start('Hello');
    expect(requests).toHaveLength(1);
    expect(await runtime.store.threads.get(id)).toMatchObject({
      status: 'failed',
      lastError: {
        code: 'InvalidAnswer',
        message: expect.stringContaining('where the arguments of a tool call are required'),
      },
    });
    await runtime.say(id, 'Again');
    expect(await runtime.transcript(id)).toEqual(['user: Hello', 'user: Again', 'assistant: Here.']);
  });
});
