/** Signed addresses of files of another thread, at every endpoint that takes files. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { signUrl } from '../../../src/server/api/signed-address.ts';
import { says } from '../../../src/testing/index.ts';
import { type TestApi, testApi } from '../../support/api.ts';
import { askChat } from '../../support/read-chat.ts';
import { recordedModel } from '../../support/recorded-model.ts';
import { type TestRuntime, testRuntime } from '../../support/runtime.ts';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

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

describe('a file of another thread, referenced by its signed address', () => {
  it.each(Object.keys(DOORS))(
    'is copied if the address is valid, and refused if it is not: %s',
    async (door) => {
      const { model, pictures, text, count } = recordedModel(() => says('Red.'));
      const runtime = await testRuntime({ model });
      const api = await testApi(runtime, {
        agents: () => [{ name: 'helper', title: null, description: null }],
      });
      const threadId = await startHelper(runtime);
      const data = Buffer.from(PNG, 'base64');
      await runtime.client.files(threadId).write({ path: '/dot.png', content: data, mimeType: 'image/png' });
      const { tokens } = runtime.client.store;
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
    },
  );

  it('is not copied for a caller that may not read the thread', async () => {
    const { model } = recordedModel(() => says('Red.'));
    const runtime = await testRuntime({ model });
    const api = await testApi(runtime, { access: () => ({ name: 'eve', scopes: ['admin'], userId: 'eve' }) });
    const threadId = await startHelper(runtime, 'ann');
    await runtime.client
      .files(threadId)
      .write({ path: '/a.txt', content: Buffer.from('a'), mimeType: 'text/plain' });
    const { tokens } = runtime.client.store;
    const expires = Math.floor(Date.now() / 1000) + 3600;
    const signed = await signUrl(tokens, { threadId, path: '/a.txt', expires });
    expect(JSON.stringify(await DOORS['ag-ui']?.(api, api.url + signed, true))).toContain('no such thread');
  });
});
