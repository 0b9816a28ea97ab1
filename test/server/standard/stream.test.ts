/** The stream of a thread over a WebSocket, as a client of Standard Agents reads it. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { defineTool } from '../../../src/definitions/index.ts';
import { tokenAccess } from '../../../src/server/api/access.ts';
import { calls, disconnects, hangs, says, scriptedModel } from '../../../src/testing/index.ts';
import { type TestApi, testApi } from '../../support/api.ts';
import { PASSPORT, envoyProject as project, waiting } from '../../support/envoy-project.ts';
import { eventually, testRuntime } from '../../support/runtime.ts';
import { StandardClient, type StandardThread } from '../../support/standard-client.ts';

const [ADA, BOB] = ['ada', 'bob'].map((name) => name.padEnd(20, '-')) as [string, string];
const access = tokenAccess(`${ADA}=read+write@ada,${BOB}=read+write@bob`);

const open: StandardThread[] = [];
afterEach(() => {
  for (const thread of open.splice(0)) thread.close();
});

async function openThread(api: TestApi, threadId: string, token?: string): Promise<StandardThread> {
  const client = new StandardClient({
    endpoint: `${api.url}/api`,
    ...(token === undefined ? {} : { token }),
  });
  const thread = await client.open(threadId);
  open.push(thread);
  return thread;
}

/** Resolves when the page shows what is stored. */
async function expectWhole(thread: StandardThread): Promise<void> {
  await eventually('the page has what is stored', async () => {
    const [shown, stored] = [thread.shown(), await thread.stored()];
    return JSON.stringify(shown) === JSON.stringify(stored);
  });
}

/** True if a browser's socket is refused. */
async function refused(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = new WebSocket(url);
    socket.onopen = () => resolve(false);
    socket.onerror = () => resolve(true);
  });
}

const look = defineTool({ description: 'looks', execute: () => ({ status: 'success', result: 'seen' }) });

describe('/api/threads/{threadId}/stream', () => {
  it('sends rows before their chunks, takes back an abandoned attempt, and ends with what is stored', async () => {
    const runtime = await testRuntime({
      model: scriptedModel([
        disconnects({ after: 'Wrong ' }),
        calls('look', {}, { text: 'I look.' }),
        says('Right answer.', { chunks: 4 }),
      ]),
      tools: { look },
    });
    const api = await testApi(runtime, { access });
    const { threadId } = await runtime.client.startThread({ agent: 'helper', userId: 'ada' });
    await runtime.client.waitForIdle(threadId);
    const page = await openThread(api, threadId, ADA);
    const said = await page.send('hi');
    expect(page.flickered).toEqual([]);
    await runtime.client.waitForIdle(threadId);
    await eventually('the answer', () => page.shown().some(({ content }) => content === 'Right answer.'));
    await expectWhole(page);
    expect(page.shown()[0].id).toBe(said);
    const frames = page.frames;
    const known = new Set<string>();
    for (const { type, message_id: id } of frames) {
      if (type === 'message_data') known.add(id);
      if (type === 'message_chunk') expect(known.has(id)).toBe(true);
    }
    const pieces = frames.filter(({ type }) => type === 'message_chunk').map(({ chunk }) => chunk);
    expect(pieces.join('')).toBe('Wrong I look.Right answer.');
    expect(page.events.map(({ eventType }) => eventType)).toEqual(
      expect.arrayContaining(['tool_call_started', 'tool_call_done']),
    );
    page.say('stream_ping');
    page.say('ping');
    await eventually('its pongs', () => page.frames.includes('stream_pong') && page.frames.includes('pong'));
  });

  it('gives a reader that joins or reconnects during an answer the rows, the text so far and what follows', async () => {
    const runtime = await testRuntime({ model: scriptedModel([hangs({ after: 'Half an ans' })]) });
    const api = await testApi(runtime);
    const { threadId } = await runtime.client.startThread({ agent: 'helper' });
    await runtime.client.waitForIdle(threadId);
    const first = await openThread(api, threadId);
    await first.send('hi');
    const half = (page: StandardThread) => () =>
      page.shown().some(({ content, status }) => content === 'Half an ans' && status === 'pending');
    await eventually('half of the answer', half(first));
    const second = await openThread(api, threadId);
    await eventually('half of the answer, for whoever comes later', half(second));
    // The page forgets its rows, so all of them are sent again.
    const { opened } = first;
    first.rows.clear();
    first.cut();
    await eventually('it is back', () => first.opened > opened);
    await eventually('half of the answer, once more', half(first));
    await runtime.client.stop(threadId);
    await runtime.client.waitForIdle(threadId);
    for (const page of [first, second]) await expectWhole(page);
    expect(first.shown().at(-1)).toMatchObject({ content: 'Half an ans', status: 'completed' });
  });

  it('accepts a ticket once and for its path, opens no thread of another user, and none without a ticket', async () => {
    const runtime = await testRuntime({ model: scriptedModel([]) });
    const api = await testApi(runtime, { access });
    const ids: string[] = [];
    for (const userId of ['ada', 'ada', 'bob']) {
      const { threadId } = await runtime.client.startThread({ agent: 'helper', userId });
      await runtime.client.waitForIdle(threadId);
      ids.push(threadId);
    }
    const [own, other, bobs] = ids as [string, string, string];
    const client = new StandardClient({ endpoint: `${api.url}/api`, token: ADA });
    const url = await client.streamUrl(own, {});
    expect(await refused(url.replace(own, other))).toBe(true);
    expect(await refused(url)).toBe(true);
    const good = await client.streamUrl(own, {});
    expect(await refused(good)).toBe(false);
    expect(await refused(good)).toBe(true);
    await expect(client.streamUrl(bobs, {})).rejects.toThrow('404');
    expect(await refused(url.replace(/\?.*/, ''))).toBe(true);
    expect(await refused(`${url.replace(/\?.*/, '')}?ticket=none`)).toBe(true);
  });

  it('[runtime 7.5] a subagent’s request for variables is read and answered at the address that it names', async () => {
    const runtime = await testRuntime({ registry: project() });
    const api = await testApi(runtime);
    const { thread, request } = await waiting(runtime);
    const { endpoint } = JSON.parse(
      /\{.*\}/s.exec(
        (await runtime.messages(thread)).find(({ role }) => role === 'tool')?.content ?? '',
      )?.[0] ?? '',
    ).error_data;
    const asked = {
      request_id: request.id,
      parent_thread_id: thread,
      agent_name: 'envoy',
      registry_agent_name: 'envoy',
      required: ['PASSPORT'],
      missing: ['PASSPORT'],
    };
    for (const path of [endpoint, `/api${endpoint}`])
      expect(await api.call('GET', path)).toMatchObject({ status: 200, body: asked });
    expect(await api.call('POST', endpoint, { env: {} })).toMatchObject({
      status: 400,
      body: { code: 'MissingVariable' },
    });
    const given = await api.call('POST', endpoint, { env: { PASSPORT } });
    expect(given).toMatchObject({ status: 200, body: { request_id: request.id, status: 'success' } });
    expect((await runtime.store.children.list(thread)).map(({ threadId }) => threadId)).toEqual([
      given.body.child_thread_id,
    ]);
    expect((await api.call('GET', endpoint)).status).toBe(404);
    await runtime.client.waitForIdle(thread);
  });
});
