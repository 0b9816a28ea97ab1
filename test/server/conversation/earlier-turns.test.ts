/** A thread starts with the conversation carried by its client: at every endpoint that takes one. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { ProviderMessage } from '../../../src/core/message/provider.ts';
import { defineHook } from '../../../src/definitions/index.ts';
import { says, scriptedModel } from '../../../src/testing/index.ts';
import { type TestApi, testApi } from '../../support/api.ts';
import { eventually } from '../../support/eventually.ts';
import { askChat } from '../../support/read-chat.ts';
import { testRuntime } from '../../support/runtime.ts';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const DATA_URL = `data:image/png;base64,${PNG}`;
const openAiImage = { type: 'image_url', image_url: { url: DATA_URL } };
const agUiImage = { type: 'image', source: { type: 'data', value: PNG, mimeType: 'image/png' } };
const call = { id: 'toolu_1', type: 'function', function: { name: 'weather', arguments: '{"town":"Oslo"}' } };

/** Each posts: a picture alone, a call with its result, an answer, and a new message. */
const DOORS: Readonly<Record<string, (api: TestApi) => Promise<number>>> = {
  completions: async (api) => {
    const messages = [
      { role: 'system', content: 'Rhyme.' },
      { role: 'user', content: [openAiImage] },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'toolu_1', content: [{ type: 'text', text: 'rain' }, openAiImage] },
      { role: 'assistant', content: 'A dot, and rain.' },
      { role: 'user', content: 'Which colour?' },
    ];
    return (await api.call('POST', '/v1/chat/completions', { model: 'helper', messages })).status;
  },
  'ag-ui': async (api) => {
    const messages = [
      { id: 's', role: 'system', content: 'Rhyme.' },
      { id: 'a', role: 'user', content: [agUiImage] },
      { id: 'b', role: 'assistant', toolCalls: [call] },
      { id: 'c', role: 'tool', toolCallId: 'toolu_1', content: [{ type: 'text', text: 'rain' }, agUiImage] },
      { id: 'd', role: 'assistant', content: 'A dot, and rain.' },
      { id: 'e', role: 'user', content: 'Which colour?' },
    ];
    const body = { threadId: randomUUID(), runId: 'r', messages };
    return (await api.call('POST', '/ag-ui/helper', body)).status;
  },
  chat: async (api) => {
    const file = { type: 'file', mediaType: 'image/png', url: DATA_URL };
    const tool = {
      ...{ type: 'tool-weather', toolCallId: 'toolu_1', state: 'output-available' },
      ...{ input: { town: 'Oslo' }, output: 'rain' },
    };
    const messages = [
      { id: 'a', role: 'user', parts: [file] },
      {
        id: 'b',
        role: 'assistant',
        parts: [
          { type: 'step-start' },
          tool,
          { type: 'step-start' },
          { type: 'text', text: 'A dot, and rain.' },
        ],
      },
      { id: 'c', role: 'user', parts: [{ type: 'text', text: 'Which colour?' }] },
    ];
    return (await askChat(`${api.url}/v1/agents/helper/chat`, { body: { id: randomUUID(), messages } }))
      .status;
  },
  '/v1/threads': async (api) => {
    const attachment = { name: 'dot.png', mimeType: 'image/png', data: PNG };
    const messages = [
      { content: '', attachments: [attachment] },
      {
        role: 'assistant',
        content: '',
        toolCalls: [{ id: 'toolu_1', name: 'weather', arguments: '{"town":"Oslo"}' }],
      },
      { role: 'tool', toolCallId: 'toolu_1', content: 'rain' },
      { role: 'assistant', content: 'A dot, and rain.' },
      { content: 'Which colour?' },
    ];
    return (await api.call('POST', '/v1/threads', { agent: 'helper', messages })).status;
  },
};

const sketch = (message: ProviderMessage) => {
  const parts = Array.isArray(message.content) ? message.content : [];
  const text = parts.find(({ type }) => type === 'text')?.text ?? message.content ?? '';
  const images = [...parts, ...(message.role === 'tool' ? (message.attachments ?? []) : [])];
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
  return [
    message.role,
    String(text)
      .replace(/\[image [^\]]*\]/g, '[image …]')
      .replaceAll('\n', ' ')
      .trim(),
    ...images.filter(({ type }) => type === 'image').map(() => 'picture'),
    ...calls.map(({ id, name, arguments: given }) => `${id} ${name} ${JSON.stringify(given)}`),
    ...(message.role === 'tool' ? [message.toolCallId, message.toolName] : []),
  ].join(' | ');
};

describe('a conversation carried by its client', () => {
  it.each(Object.keys(DOORS))('starts a thread with its pictures, calls and results: %s', async (door) => {
    const requests: (readonly ProviderMessage[])[] = [];
    const model = scriptedModel(({ messages }) => {
      requests.push(messages);
      return says('Red.');
    });
    const api = await testApi(await testRuntime({ model }));
    const status = await DOORS[door]?.(api);
    expect(status).toBe(door === '/v1/threads' ? 201 : 200);
    await eventually('the model is asked', async () => requests.length > 0);
    const withPicture = door === 'completions' || door === 'ag-ui';
    expect(
      requests
        .at(-1)
        ?.filter(({ role }) => role !== 'system')
        .map(sketch),
    ).toEqual([
      'user | [image …] | picture',
      'assistant |  | toolu_1 weather {"town":"Oslo"}',
      withPicture
        ? 'tool | rain  [image …] | picture | toolu_1 | weather'
        : 'tool | rain | toolu_1 | weather',
      'assistant | A dot, and rain.',
      'user | Which colour?',
    ]);
  });

  it('passes its calls and results unchanged through the hooks before a message', async () => {
    const requests: (readonly ProviderMessage[])[] = [];
    const seen: string[] = [];
    const model = scriptedModel(({ messages }) => {
      requests.push(messages);
      return says('Red.');
    });
    const hook = defineHook({
      hook: 'before_create_message',
      id: 'look',
      execute: async (_state, message) => {
        seen.push(`${message.role} ${message.tool_status} ${message.tool_calls === null ? '' : 'calls'}`);
        return { ...message, role: 'user' };
      },
    });
    const runtime = await testRuntime({ model, hooks: [hook], agent: { hooks: ['look'] } });
    await DOORS.completions?.(await testApi(runtime));
    expect(seen.slice(0, 3)).toEqual(['user null ', 'assistant null calls', 'tool success ']);
    expect(
      requests
        .at(-1)
        ?.slice(1, 4)
        .map(({ role }) => role),
    ).toEqual(['user', 'assistant', 'tool']);
  });

  it('is refused if the arguments of a call are nested too deeply for a model', async () => {
    const api = await testApi(await testRuntime({ model: scriptedModel([]) }));
    const deep = {
      ...call,
      function: { ...call.function, arguments: `${'['.repeat(6000)}${']'.repeat(6000)}` },
    };
    const messages = [
      { role: 'user', content: 'Weather?' },
      { role: 'assistant', content: null, tool_calls: [deep] },
      { role: 'tool', tool_call_id: call.id, content: 'rain' },
      { role: 'user', content: 'And now?' },
    ];
    const { status, body } = await api.call('POST', '/v1/chat/completions', { model: 'helper', messages });
    expect([status, body.error.message]).toEqual([400, expect.stringContaining('deeper than 1000 levels')]);
  });

  it('replaces what a thread cannot keep by text: external pictures, results without calls, older messages', async () => {
    const requests: (readonly ProviderMessage[])[] = [];
    const model = scriptedModel(({ messages }) => {
      requests.push(messages);
      return says('Red.');
    });
    const api = await testApi(await testRuntime({ model }));
    const elsewhere = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } };
    const messages = [
      { role: 'tool', tool_call_id: 'gone', content: 'snow' },
      { role: 'user', content: [{ type: 'text', text: 'See:' }, elsewhere] },
      { role: 'assistant', content: 'A dot.' },
      { role: 'user', content: 'Which colour?' },
    ];
    const ask = (given: readonly object[]) =>
      api.call('POST', '/v1/chat/completions', { model: 'helper', messages: given });
    await ask(messages);
    expect(requests.at(-1)?.slice(1).map(sketch)).toEqual([
      'user | [result of an earlier call] snow',
      'user | See: [image, not kept: https://example.com/a.png]',
      'assistant | A dot.',
      'user | Which colour?',
    ]);
    const turns = Array.from({ length: 60 }, (_, n) => [
      { role: 'user', content: `q${n}` },
      { role: 'assistant', content: `a${n}` },
    ]).flat();
    await ask([...turns, { role: 'user', content: 'Which colour?' }]);
    expect(requests.at(-1)?.slice(1, 3).map(sketch)).toEqual([
      'user | [22 earlier messages, not kept]',
      'user | q11',
    ]);
  });
});
