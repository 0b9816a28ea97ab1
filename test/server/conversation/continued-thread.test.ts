/** A conversation that goes on in a new thread: pictures of the first one come along, ids and order stay. */
import { randomUUID } from 'node:crypto';
import { HttpAgent } from '@ag-ui/client';
import { describe, expect, it } from '@jest/globals';
import { storeOf } from '../../../src/client/client-store.ts';
import type { ProviderMessage, ProviderRequest } from '../../../src/core/message/provider.ts';
import { signUrl } from '../../../src/server/api/signed-address.ts';
import { calls, says, scriptedModel } from '../../../src/testing/index.ts';
import { type TestApi, testApi } from '../../support/api.ts';
import { askChat } from '../../support/read-chat.ts';
import { type TestRuntime, testRuntime } from '../../support/runtime.ts';

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

function recorded(answer: (request: ProviderRequest) => ReturnType<typeof says>) {
  const requests: (readonly ProviderMessage[])[] = [];
  const model = scriptedModel((request) => {
    requests.push(request.messages);
    return answer(request);
  });
  const pictures = () =>
    (requests.at(-1) ?? []).flatMap(({ content }) =>
      Array.isArray(content) ? content.filter(({ type }) => type === 'image') : [],
    );
  return { model, pictures, text: () => JSON.stringify(requests.at(-1)), count: () => requests.length };
}

describe('a conversation of AG-UI', () => {
  it('keeps its order, ids and pictures when it goes on in a new thread', async () => {
    const { model, pictures, text } = recorded(({ messages }) =>
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

  it('keeps a message that is said while the thread waits, which is told to be in line, and is said once', async () => {
    const { model } = recorded(({ messages }) =>
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

/** Each posts a picture at an address, as the last message of a new thread, or as an earlier one. */
const DOORS: Readonly<Record<string, (api: TestApi, url: string, isLast: boolean) => Promise<unknown>>> = {
  'ag-ui': async ({ call }, value, isLast) => {
    const shows = { id: 'a', role: 'user', content: [{ type: 'image', source: { type: 'url', value } }] };
    const rest = [
      { id: 'b', role: 'assistant', content: 'A dot.' },
      { id: 'c', role: 'user', content: 'Which colour?' },
    ];
    const body = { threadId: randomUUID(), runId: 'r', messages: [shows, ...(isLast ? [] : rest)] };
    const { status, body: told } = await call('POST', '/ag-ui/helper', body);
    return status === 200 ? 'taken' : told;
  },
  completions: async ({ call }, url, isLast) => {
    const shows = { role: 'user', content: [{ type: 'image_url', image_url: { url } }] };
    const rest = [
      { role: 'assistant', content: 'A dot.' },
      { role: 'user', content: 'Which colour?' },
    ];
    const body = { model: 'helper', messages: [shows, ...(isLast ? [] : rest)] };
    const { status, body: told } = await call('POST', '/v1/chat/completions', body);
    return status === 200 ? 'taken' : told;
  },
  chat: async ({ url: server }, url, isLast) => {
    const shows = { id: 'a', role: 'user', parts: [{ type: 'file', mediaType: 'image/png', url }] };
    const rest = [
      { id: 'b', role: 'assistant', parts: [{ type: 'text', text: 'A dot.' }] },
      { id: 'c', role: 'user', parts: [{ type: 'text', text: 'Which colour?' }] },
    ];
    const body = { id: randomUUID(), messages: [shows, ...(isLast ? [] : rest)] };
    const answer = await askChat(`${server}/v1/agents/helper/chat`, { body });
    return answer.status === 200 ? 'taken' : answer;
  },
  'a2a (no earlier messages)': async ({ call }, url) => {
    const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ url, mediaType: 'image/png' }] };
    const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } };
    const { body: told } = await call('POST', '/a2a/helper', body, { 'a2a-version': '1.0' });
    return told.error ? told : 'taken';
  },
};

async function startHelper({ client }: TestRuntime, userId?: string): Promise<string> {
  const messages = [{ content: 'Hello.' }];
  const { threadId } = await client.startThread({ agent: 'helper', messages, ...(userId && { userId }) });
  await client.waitForIdle(threadId);
  return threadId;
}

describe('a file of another thread, by its signed address', () => {
  it.each(Object.keys(DOORS))('is copied, or refused without the address: %s', async (door) => {
    const { model, pictures, text, count } = recorded(() => says('Red.'));
    const runtime = await testRuntime({ model });
    const api = await testApi(runtime, {
      agents: () => [{ name: 'helper', title: null, description: null }],
    });
    const threadId = await startHelper(runtime);
    const data = Buffer.from(PNG, 'base64');
    await runtime.client.files(threadId).write({ path: '/dot.png', content: data, mimeType: 'image/png' });
    const { tokens } = storeOf(runtime.client);
    const now = Math.floor(Date.now() / 1000);
    const address = async (expires: number) =>
      `https://elsewhere.example/below${await signUrl(tokens, { threadId, path: '/dot.png', expires })}`;
    const valid = await address(now + 3600);
    const post = (url: string, isLast: boolean) => DOORS[door]?.(api, url, isLast);
    const moments = door.startsWith('a2a') ? [true] : [true, false];
    for (const isLast of moments) {
      expect(await post(valid, isLast)).toBe('taken');
      expect(pictures()).toHaveLength(1);
      expect(text()).not.toContain('signature=');
    }
    for (const bad of [await address(now - 1), valid.replace(/.$/, (end) => (end === 'A' ? 'Q' : 'A'))]) {
      const asked = count();
      const refused = JSON.stringify(await post(bad, true));
      expect(refused).toMatch(/expired|not signed/);
      expect(refused).not.toContain('signature=');
      expect(count()).toBe(asked);
      if (!moments.includes(false)) continue;
      expect(await post(bad, false)).toBe('taken');
      expect(pictures()).toHaveLength(0);
      expect(text()).toContain('not kept]');
      expect(text()).not.toContain('signature=');
    }
  });

  it('is not copied for a caller that may not read the thread', async () => {
    const { model } = recorded(() => says('Red.'));
    const runtime = await testRuntime({ model });
    const api = await testApi(runtime, { access: () => ({ name: 'eve', scopes: ['admin'], userId: 'eve' }) });
    const threadId = await startHelper(runtime, 'ann');
    await runtime.client
      .files(threadId)
      .write({ path: '/a.txt', content: Buffer.from('a'), mimeType: 'text/plain' });
    const { tokens } = storeOf(runtime.client);
    const expires = Math.floor(Date.now() / 1000) + 3600;
    const signed = await signUrl(tokens, { threadId, path: '/a.txt', expires });
    expect(JSON.stringify(await DOORS['ag-ui']?.(api, api.url + signed, true))).toContain('no such thread');
  });
});
