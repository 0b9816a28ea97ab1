/**
 * The messages of a chat, as a page that is opened again reads them: those that the AI SDK's own packages made of the
 * responses, under the same ids.
 */
import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { defineTool } from '../../src/definitions/index.ts';
import { UI_DIALECTS, type UiDialect } from '../../src/projections/ai-sdk/ui-chunk.ts';
import { calls, hangs, says, scriptedModel } from '../../src/testing/index.ts';
import { type TestApi, testApi } from '../support/api.ts';
import { askChat, type Chunk } from '../support/read-chat.ts';
import { eventually, testRuntime } from '../support/runtime.ts';

interface Shown {
  readonly id: string;
  readonly role: string;
  // biome-ignore lint/suspicious/noExplicitAny: parts of any version
  readonly parts: readonly any[];
}

const plain = (value: unknown) => JSON.parse(JSON.stringify(value));
const chatOf = ({ url }: TestApi) => `${url}/v1/agents/helper/chat`;
const userSays = (id: string, text: string, ...more: object[]) => ({
  id,
  role: 'user',
  parts: [{ type: 'text', text }, ...more],
});

/** The message that the published package of a version makes of a response; `last` if the response continues it. */
async function assemble(dialect: UiDialect, chunks: readonly Chunk[], last?: Shown): Promise<Shown> {
  const path = createRequire(import.meta.url).resolve(`ai-sdk-react-${dialect}`);
  const ai = await import(pathToFileURL(createRequire(path).resolve('ai')).href);
  const stream = ReadableStream.from(chunks);
  let shown: Shown | undefined;
  for await (const each of ai.readUIMessageStream({ stream, message: last })) shown = each as Shown;
  return plain(shown);
}

/** A page: it posts what its user says, and keeps the messages that its package makes of the responses. */
function openPage(api: TestApi, id: string, dialect: UiDialect) {
  const kept: Shown[] = [];
  const post = (message: object) =>
    askChat(`${chatOf(api)}?ui=${dialect}`, { body: { id, message, trigger: 'submit-message' } });
  return {
    kept,
    async say(message: Shown) {
      kept.push(message);
      kept.push(await assemble(dialect, (await post(message)).chunks));
    },
    /** Answers the open approval as the hook of the version does, and reads the rest of the message. */
    async decide(approved: boolean) {
      const last = kept.pop() as Shown;
      const parts = last.parts.map((part) => {
        if (part.state === 'approval-requested')
          return { ...part, state: 'approval-responded', approval: { ...part.approval, approved } };
        if (part.type !== 'data-everthread-wait' || part.data.state !== 'open') return part;
        return { ...part, state: 'approval-responded', approval: { id: part.id, approved } };
      });
      kept.push(await assemble(dialect, (await post({ ...last, parts })).chunks, { ...last, parts }));
    },
  };
}

async function read(
  api: TestApi,
  id: string,
  query: string,
): Promise<{ messages: Shown[]; before: string | null }> {
  const { status, body } = await api.call('GET', `/v1/agents/helper/chat/${id}/messages?${query}`);
  expect(status).toBe(200);
  return body;
}

/**
 * Without what only a page knows: which request streamed a text, for a note that withdraws it, and in version 5 the
 * answer that it gave a part.
 */
const asStored = ({ parts, ...message }: Shown) => ({
  ...message,
  parts: parts.map(({ providerMetadata: _, state, approval, ...part }) =>
    part.type.startsWith('data-')
      ? part
      : { ...part, ...(state && { state }), ...(approval && { approval }) },
  ),
});

const tools = {
  look: defineTool({ description: 'looks', execute: () => ({ status: 'success', result: 'seen' }) }),
  fail: defineTool({ description: 'fails', execute: () => ({ status: 'error', error: 'no luck' }) }),
  pay: defineTool({
    description: 'pays',
    confirm: true,
    execute: () => ({ status: 'success', result: 'paid' }),
  }),
};

/** Calls the tool that the user names, then answers. */
const obey = () =>
  scriptedModel(({ messages }) => {
    const since = messages.slice(messages.findLastIndex(({ role }) => role === 'user'));
    const [first] = since;
    const text = Array.isArray(first?.content) ? first.content[0]?.text : first?.content;
    const [name = ''] = String(text).split('\n');
    if (name in tools && since.length === 1) return calls(name, { of: 'it' }, { text: `I ${name}.` });
    return says(`Done: ${name}`);
  });

describe('/v1/agents/{agent}/chat/{chatId}/messages', () => {
  it.each(UI_DIALECTS)('gives version %i what its page has kept', async (dialect) => {
    const runtime = await testRuntime({ model: obey(), tools });
    const api = await testApi(runtime);
    const id = randomUUID();
    const page = openPage(api, id, dialect);
    await page.say(userSays('m-1', 'hello'));
    await page.say(userSays('m-2', 'look'));
    await page.say(userSays('m-3', 'fail'));
    await page.say(userSays('m-4', 'pay'));
    await page.decide(true);
    await page.say(userSays('m-5', 'pay'));
    await page.decide(false);
    await runtime.client.waitForIdle(id);
    const { messages, before } = await read(api, id, `ui=${dialect}`);
    expect(before).toBeNull();
    expect(messages.map(asStored)).toEqual(page.kept.map(asStored));
    // Whenever it is read, also once the pieces of the answers have left the log.
    expect(await runtime.store.events.removeChunks(-60_000)).toBeGreaterThan(0);
    expect((await read(api, id, `ui=${dialect}`)).messages).toEqual(messages);
  });

  it('gives pages of so many responses, the newest first, with what users said before each', async () => {
    const runtime = await testRuntime({ model: obey(), tools });
    const api = await testApi(runtime);
    const id = randomUUID();
    const page = openPage(api, id, 6);
    for (let n = 1; n <= 5; n++) await page.say(userSays(`m-${n}`, n === 3 ? 'look' : `hello ${n}`));
    await runtime.client.waitForIdle(id);
    const pages: Shown[][] = [];
    for (let before: string | null | undefined; before !== null; ) {
      const found = await read(api, id, `limit=2${before ? `&before=${before}` : ''}`);
      pages.unshift([...found.messages]);
      before = found.before;
    }
    expect(pages.map(({ length }) => length)).toEqual([2, 4, 4]);
    expect(pages.flat()).toEqual(page.kept.map(asStored));
  });

  it('leaves an open response to its stream, and has what the user said', async () => {
    const runtime = await testRuntime({ model: obey(), tools });
    const api = await testApi(runtime);
    const id = randomUUID();
    const page = openPage(api, id, 6);
    await page.say(userSays('m-1', 'pay'));
    expect((await read(api, id, '')).messages).toEqual([page.kept[0]]);
    const resumed = await askChat(`${chatOf(api)}/${id}/stream`, { method: 'GET' });
    expect(await assemble(6, resumed.chunks)).toEqual(page.kept[1]);
  });

  it('shows a message that joined the execution within it, and the file of a message at an address', async () => {
    const gate = Promise.withResolvers<void>();
    const look = defineTool({
      description: 'looks',
      execute: async () => {
        await gate.promise;
        return { status: 'success', result: 'seen' };
      },
    });
    const runtime = await testRuntime({ model: obey(), tools: { look } });
    const api = await testApi(runtime);
    const id = randomUUID();
    const file = {
      type: 'file',
      filename: 'a.txt',
      mediaType: 'text/plain',
      url: `data:text/plain;base64,${Buffer.from('its text').toString('base64')}`,
    };
    const first = askChat(chatOf(api), { body: { id, message: userSays('m-1', 'look', file) } });
    await eventually('the tool runs', async () =>
      (await runtime.store.events.read(id, 0).catch(() => [])).some(({ type }) => type === 'tool.started'),
    );
    await runtime.client.sendMessage(id, { id: 'm-2', content: 'and more' });
    gate.resolve();
    await first;
    await runtime.client.waitForIdle(id);
    const { messages } = await read(api, id, 'ui=7');
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
    expect(messages[1]?.parts).toContainEqual({
      type: 'steering-message',
      id: 'm-2',
      parts: [{ type: 'text', text: 'and more' }],
    });
    const [, shown] = messages[0]?.parts ?? [];
    expect(shown).toEqual({ ...file, url: expect.any(String) });
    expect(await (await fetch(shown.url)).text()).toBe('its text');
  });

  it.each(UI_DIALECTS)('keeps the text of a stopped response, for version %i', async (dialect) => {
    const runtime = await testRuntime({ model: scriptedModel([hangs({ after: 'For ever and' })]) });
    const api = await testApi(runtime);
    const id = randomUUID();
    const body = { id, message: userSays('m-1', 'hang') };
    const { chunks } = await askChat(`${chatOf(api)}?ui=${dialect}`, {
      body,
      leave({ type }: Chunk) {
        if (type === 'text-delta') void api.call('POST', `/v1/agents/helper/chat/${id}/stop`);
        return false;
      },
    });
    await runtime.client.waitForIdle(id);
    const { messages } = await read(api, id, `ui=${dialect}`);
    expect(messages).toEqual([body.message, asStored(await assemble(dialect, chunks))]);
  });

  it('has no message that was deleted, and the text of one that was changed', async () => {
    const runtime = await testRuntime({ model: obey(), tools });
    const api = await testApi(runtime);
    const id = randomUUID();
    const page = openPage(api, id, 6);
    await page.say(userSays('m-1', 'hello'));
    await page.say(userSays('m-2', 'more'));
    await runtime.client.waitForIdle(id);
    await runtime.client.deleteMessage(id, 'm-1');
    await runtime.client.updateMessage(id, 'm-2', { content: 'less' });
    const texts = (await read(api, id, '')).messages.map(({ id: of, parts }) => [of, parts.at(-1).text]);
    expect(texts).toEqual([
      [page.kept[1]?.id, 'Done: hello'],
      ['m-2', 'less'],
      [page.kept[3]?.id, 'Done: more'],
    ]);
  });

  it('is empty for a chat that does not exist, and refuses a "before" that it has not given', async () => {
    const runtime = await testRuntime({ model: obey(), tools });
    const api = await testApi(runtime);
    const id = randomUUID();
    expect(await read(api, id, '')).toEqual({ messages: [], before: null });
    await openPage(api, id, 6).say(userSays('m-1', 'hello'));
    const path = `/v1/agents/helper/chat/${id}/messages`;
    for (const query of ['before=unknown', 'limit=0', 'ui=4']) {
      const { status, body } = await api.call('GET', `${path}?${query}`);
      expect([query, status, body.code]).toEqual([query, 400, 'InvalidRequest']);
    }
  });
});
