/** A conversation that continues in a new thread: its pictures are copied, ids and order stay. */
import { randomUUID } from 'node:crypto';
import { HttpAgent } from '@ag-ui/client';
import { describe, expect, it } from '@jest/globals';
import { calls, says } from '../../../src/testing/index.ts';
import { type TestApi, testApi } from '../../support/api.ts';
import { recordedModel } from '../../support/recorded-model.ts';
import { testRuntime } from '../../support/runtime.ts';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const picture = {
  type: 'image' as const,
  source: { type: 'data' as const, value: PNG, mimeType: 'image/png' },
};
const weather = {
  name: 'weather',
  description: 'tells the weather',
  parameters: { type: 'object', properties: { town: { type: 'string' } } },
};
const say = (agent: HttpAgent, content: string) =>
  agent.addMessage({ id: randomUUID(), role: 'user', content });
const idsOf = ({ messages }: HttpAgent) => messages.map(({ id }) => id);
const rolesOf = ({ messages }: HttpAgent) => messages.map(({ role }) => role);
const giveResult = (agent: HttpAgent, content: string) => {
  const asked = agent.messages.at(-1);
  const toolCallId = asked?.role === 'assistant' ? String(asked.toolCalls?.[0]?.id) : '';
  agent.addMessage({ id: randomUUID(), role: 'tool', toolCallId, content });
};

describe('an AG-UI conversation', () => {
  it('keeps its order, ids and pictures when it continues in a new thread', async () => {
    const { model, pictures, text } = recordedModel(({ messages }) =>
      messages.at(-1)?.role === 'user' && JSON.stringify(messages.at(-1)).includes('weather')
        ? calls('client__weather', { town: 'Oslo' }, { text: 'Looking.' })
        : says('Red.'),
    );
    const { url } = await testApi(await testRuntime({ model }));
    const first = new HttpAgent({ url: `${url}/ag-ui/helper`, threadId: randomUUID() });
    const content = [{ type: 'text' as const, text: 'The weather here?' }, picture];
    first.addMessage({ id: 'ü'.repeat(70), role: 'user', content });
    await first.runAgent({ tools: [weather] });
    giveResult(first, 'rain');
    say(first, 'And the colour?');
    const sent = idsOf(first);
    await first.runAgent({ tools: [weather] });
    expect(idsOf(first).slice(0, sent.length)).toEqual(sent);
    expect(rolesOf(first)).toEqual(['user', 'assistant', 'tool', 'user', 'assistant']);

    const initialMessages = structuredClone(first.messages);
    const second = new HttpAgent({ url: `${url}/ag-ui/helper`, threadId: randomUUID(), initialMessages });
    for (const words of ['Again?', 'And again?']) {
      say(second, words);
      const before = structuredClone(second.messages);
      await second.runAgent({ tools: [weather] });
      expect(idsOf(second).slice(0, before.length)).toEqual(before.map(({ id }) => id));
      expect(rolesOf(second)).toEqual([...before.map(({ role }) => role), 'assistant']);
      expect(pictures()).toHaveLength(1);
      expect(text()).not.toContain('signature=');
    }
    const [shown] = second.messages;
    const [, image] = (shown?.content ?? []) as { source?: { value: string } }[];
    expect(image?.source?.value).toContain(second.threadId);
    const response = await fetch(String(image?.source?.value));
    expect(Buffer.from(await response.arrayBuffer()).toString('base64')).toBe(PNG);
  });

  it('reports a message sent while the thread waits as queued, and stores it once', async () => {
    const { model } = recordedModel(({ messages }) =>
      messages.at(-1)?.role === 'user' && JSON.stringify(messages.at(-1)).includes('weather')
        ? calls('client__weather', { town: 'Oslo' })
        : says('Rain.'),
    );
    const runtime = await testRuntime({ model });
    const { url } = await testApi(runtime);
    const agent = new HttpAgent({ url: `${url}/ag-ui/helper`, threadId: randomUUID() });
    const told: unknown[] = [];
    agent.subscribe({ onCustomEvent: ({ event: { name, value } }) => void told.push({ name, value }) });
    say(agent, 'weather?');
    await agent.runAgent({ tools: [weather] });
    const asked = structuredClone(agent.messages.at(-1));
    say(agent, 'Hurry.');
    const sent = structuredClone(agent.messages);
    for (const _ of ['once', 'again']) {
      await agent.runAgent({ tools: [weather] });
      expect(agent.messages).toEqual(sent);
      expect(told.splice(0)).toEqual([
        { name: 'everthread.message.queued', value: { messageId: sent.at(-1)?.id } },
      ]);
    }
    const toolCallId = asked?.role === 'assistant' ? String(asked.toolCalls?.[0]?.id) : '';
    agent.addMessage({ id: 'mine', role: 'tool', toolCallId, content: 'rain' });
    await agent.runAgent({ tools: [weather] });
    expect(rolesOf(agent)).toEqual(['user', 'assistant', 'tool', 'user', 'assistant']);
    expect(idsOf(agent)[2]).toBe('mine');
    expect(told).toEqual([]);
    expect(await runtime.messages(agent.threadId)).toHaveLength(5);
  });
});

describe('a message sent while a client tool call is open', () => {
  const tools = [{ type: 'function', function: weather }];
  const post = ({ url }: TestApi, path: string, body: object) =>
    fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const HURRY: Readonly<Record<string, (api: TestApi, threadId: string) => Promise<Response>>> = {
    completions: (api, threadId) =>
      post(api, '/v1/chat/completions', {
        ...{ model: 'helper', metadata: { thread_id: threadId }, tools },
        messages: [{ role: 'user', content: 'Hurry.' }],
      }),
    chat: (api, id) =>
      post(api, '/v1/agents/helper/chat', {
        ...{ id, messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hurry.' }] }] },
      }),
  };
  it.each(Object.keys(HURRY))(
    'is reported as queued, and stored once when it is sent again: %s',
    async (door) => {
      const { model } = recordedModel(({ messages }) =>
        messages.some(({ role }) => role === 'tool') ? says('Rain.') : calls('client__weather', {}),
      );
      const runtime = await testRuntime({ model });
      const api = await testApi(runtime);
      const threadId = randomUUID();
      const begin = { model: 'helper', metadata: { thread_id: threadId }, tools };
      const messages = [{ role: 'user', content: 'weather?' }];
      const asked = await post(api, '/v1/chat/completions', { ...begin, messages });
      expect(asked.headers.get('everthread-queued')).toBeNull();
      const [call] = JSON.parse(await asked.text()).choices[0].message.tool_calls;
      for (const repeated of [null, 'true']) {
        const answer = (await HURRY[door]?.(api, threadId)) as Response;
        expect(await answer.text()).toMatch(/tool.calls/);
        const told = ['everthread-queued', 'everthread-repeated'].map((name) => answer.headers.get(name));
        expect([answer.status, ...told]).toEqual([200, 'true', repeated]);
      }
      const results = [
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: call.id, content: 'rain' },
      ];
      const last = await post(api, '/v1/chat/completions', { ...begin, messages: [...messages, ...results] });
      expect(JSON.parse(await last.text()).choices[0].message.content).toBe('Rain.');
      const said = await runtime.messages(threadId);
      expect(said.filter(({ content }) => content === 'Hurry.')).toHaveLength(1);
    },
  );

  it('is recognised as the same message when it is sent again after the result of the call', async () => {
    const { model } = recordedModel(({ messages }) =>
      messages.some(({ role }) => role === 'tool') ? says('Rain.') : calls('client__weather', {}),
    );
    const runtime = await testRuntime({ model });
    const api = await testApi(runtime);
    const threadId = randomUUID();
    const send = async (...messages: readonly object[]) => {
      const body = { model: 'helper', metadata: { thread_id: threadId }, tools, messages };
      const answer = await post(api, '/v1/chat/completions', body);
      return [JSON.parse(await answer.text()).choices[0].message, answer.headers.get('everthread-repeated')];
    };
    const [first, next] = ['weather?', 'Hurry.'].map((content) => ({ role: 'user', content }));
    const [asked] = await send(first as object);
    await send(first as object, asked, next as object);
    const result = { role: 'tool', tool_call_id: asked.tool_calls[0].id, content: 'rain' };
    const [answer, repeated] = await send(first as object, asked, result, next as object);
    expect([answer.content, repeated]).toEqual(['Rain.', 'true']);
    const said = await runtime.messages(threadId);
    expect(said.filter(({ content }) => content === 'Hurry.')).toHaveLength(1);
  });

  it('is answered in the same step as the result that precedes it', async () => {
    const { model, count, text } = recordedModel(({ messages }) =>
      messages.some(({ role }) => role === 'tool') ? says('Rain.') : calls('client__weather', {}),
    );
    const runtime = await testRuntime({ model });
    const api = await testApi(runtime);
    const threadId = randomUUID();
    const send = async (...messages: readonly object[]) => {
      const body = { model: 'helper', metadata: { thread_id: threadId }, tools, messages };
      return JSON.parse(await (await post(api, '/v1/chat/completions', body)).text()).choices[0].message;
    };
    const first = { role: 'user', content: 'weather?' };
    const asked = await send(first);
    const result = { role: 'tool', tool_call_id: asked.tool_calls[0].id, content: 'rain' };
    // A large file takes a while to be stored: meanwhile the agent could answer the result alone.
    const url = `data:text/plain;base64,${Buffer.alloc(4_000_000, 'a').toString('base64')}`;
    const file = { type: 'file', file: { filename: 'notes.txt', file_data: url } };
    const next = { role: 'user', content: [{ type: 'text', text: 'Hurry.' }, file] };
    expect(await send(first, asked, result, next)).toMatchObject({ content: 'Rain.' });
    expect(count()).toBe(2);
    expect(text()).toContain('Hurry.');
  });
});
