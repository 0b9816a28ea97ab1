/**
 * An answer made again, and a message edited: over the chat of the AI SDK, over HTTP and by the client. A superseded message is
 * in no reading but the one that asks for it.
 */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { HttpClient } from '../../src/client/http/http-client.ts';
import { defineTool } from '../../src/definitions/index.ts';
import { UI_DIALECTS } from '../../src/projections/ai-sdk/ui-chunk.ts';
import { calls, hangs, says, scriptedModel } from '../../src/testing/index.ts';
import { collect } from '../projections/golden.ts';
import { type TestApi, testApi } from '../support/api.ts';
import { askChat, textOf } from '../support/read-chat.ts';
import { eventually, testRuntime } from '../support/runtime.ts';

const said = (id: string, text: string) => ({ id, role: 'user', parts: [{ type: 'text', text }] });
const chatOf = ({ url }: TestApi, ui: number | string = 6) => `${url}/v1/agents/helper/chat?ui=${ui}`;

/** A model that numbers its answers, and what it was shown. */
function numbered() {
  const shown: string[][] = [];
  const model = scriptedModel(({ messages }) => {
    shown.push(messages.filter(({ role }) => role !== 'system').map(({ content }) => String(content)));
    return says(`answer ${shown.length}`);
  });
  return { shown, model };
}

describe('a chat', () => {
  it.each(UI_DIALECTS)('regenerates its last answer, and edits a message (useChat %i)', async (ui) => {
    const { model, shown } = numbered();
    const runtime = await testRuntime({ model });
    const api = await testApi(runtime);
    const id = randomUUID();
    const post = async (body: object) => {
      const answer = await askChat(chatOf(api, ui), { body: { id, ...body } });
      expect([answer.status, answer.done]).toEqual([200, true]);
      return {
        text: textOf(answer.chunks),
        messageId: answer.chunks.find(({ type }) => type === 'start')?.messageId,
      };
    };
    const page = async () => {
      const { body } = await api.call('GET', `/v1/agents/helper/chat/${id}/messages?ui=${ui}`);
      return body.messages.map((each: { id: string; parts: { type: string; text?: string }[] }) => [
        each.id,
        each.parts.map(({ text = '' }) => text).join(''),
      ]);
    };
    const [m1, m2] = [said('m1', 'one'), said('m2', 'two')];
    const first = await post({ messages: [m1], trigger: 'submit-message' });
    const second = await post({ messages: [m1, m2], trigger: 'submit-message' });
    // The hook takes the answer from its list, and names no message.
    const again = await post({ messages: [m1, m2], trigger: 'regenerate-message' });
    expect([first.text, second.text, again.text]).toEqual(['answer 1', 'answer 2', 'answer 3']);
    expect(await page()).toEqual([
      ['m1', 'one'],
      [first.messageId, 'answer 1'],
      ['m2', 'two'],
      [again.messageId, 'answer 3'],
    ]);
    // One that is not the last, named, by a page that posts only its last message.
    const earlier = await post({ message: m1, messageId: first.messageId, trigger: 'regenerate-message' });
    expect(await page()).toEqual([
      ['m1', 'one'],
      [earlier.messageId, 'answer 4'],
    ]);
    const edit = { messages: [said('m1', 'uno')], messageId: 'm1', trigger: 'submit-message' };
    expect((await post(edit)).text).toBe('answer 5');
    // The same edit again, as after a lost response, is answered with the same.
    expect((await post(edit)).text).toBe('answer 5');
    expect((await page()).map(([, text]: string[]) => text)).toEqual(['uno', 'answer 5']);
    expect(shown.slice(2)).toEqual([['one', 'answer 1', 'two'], ['one'], ['uno']]);
  });

  it('refuses a regeneration while it answers, unless that is to be cancelled', async () => {
    const model = scriptedModel(({ messages }) =>
      String(messages.at(-1)?.content) === 'hang' ? hangs() : says('Hi.'),
    );
    const runtime = await testRuntime({ model });
    const api = await testApi(runtime);
    const id = randomUUID();
    const m = said('m1', 'hang');
    await runtime.client.startThread({
      agent: 'helper',
      threadId: id,
      messages: [{ id: 'm1', content: 'hang' }],
    });
    await eventually(
      'the thread works',
      async () => (await runtime.client.store.executions.get(id)) !== null,
    );
    const again = { id, messages: [m], trigger: 'regenerate-message' };
    const { status, chunks } = await askChat(chatOf(api), { body: again });
    expect([status, JSON.parse(chunks[0]).code]).toEqual([409, 'ThreadBusy']);
    const edit = {
      id,
      messages: [said('m1', 'hello')],
      messageId: 'm1',
      trigger: 'submit-message',
      cancel: true,
    };
    expect(textOf((await askChat(chatOf(api), { body: edit })).chunks)).toBe('Hi.');
    expect((await runtime.client.getMessages(id)).messages.map(({ content }) => content)).toEqual([
      'hello',
      'Hi.',
    ]);
  });

  it('regenerated in two tabs at once has one answer', async () => {
    const { model } = numbered();
    const runtime = await testRuntime({ model });
    const api = await testApi(runtime);
    const id = randomUUID();
    const body = { id, messages: [said('m1', 'one')] };
    await askChat(chatOf(api), { body });
    const tabs = await Promise.all(
      [1, 2].map(() => askChat(chatOf(api), { body: { ...body, trigger: 'regenerate-message' } })),
    );
    await runtime.client.waitForIdle(id);
    expect(tabs.every(({ status }) => status === 200 || status === 409)).toBe(true);
    const { messages } = await runtime.client.getMessages(id);
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
  });
});

describe('a superseded message', () => {
  it('is in no reading but the one that asks for it', async () => {
    const pay = defineTool({
      description: 'Pays.',
      execute: async (state) => {
        await state.setValue('paid', 1);
        return { status: 'success', result: 'secret-of-the-tail' };
      },
    });
    const model = scriptedModel(({ messages }) => {
      const last = messages.at(-1);
      if (last?.role === 'tool') return says('secret-of-the-tail');
      if (String(last?.content).endsWith('too')) return says('secret-of-the-tail');
      return String(last?.content) === 'pay' ? calls('pay', {}) : says('fine');
    });
    const runtime = await testRuntime({ model, tools: { pay } });
    const api = await testApi(runtime);
    const { client } = runtime;
    const id = randomUUID();
    const send = async (message: { id: string; content: string }) => {
      await client.queueMessage(id, message);
      await client.waitForIdle(id);
    };
    await client.startThread({ agent: 'helper', threadId: id, messages: [{ id: 'm1', content: 'hello' }] });
    await client.waitForIdle(id);
    await send({ id: 'm2', content: 'pay' });
    await send({ id: 'm3', content: 'secret-of-the-tail, too' });
    /** Every way to read the history, by name; those of a step are read as the next request would be assembled. */
    const readAll = async () => {
      const followed = (as: 'run' | 'story' | 'tangle' | 'agenticx') =>
        collect(client.events(id, { as: as as 'run', follow: false }));
      const got = async (path: string) => (await api.call('GET', path)).body;
      return {
        messages: await client.getMessages(id, { includeSilent: true, maxDepth: 9 }),
        'a message': await client.getMessage(id, 'm3'),
        lists: await client.listThreads({}),
        'what tools are shown': await client.store.messages.recent(id),
        run: await followed('run'),
        story: await followed('story'),
        tangle: await followed('tangle'),
        agenticx: await followed('agenticx'),
        'memory hooks': await client.store.memory.recall(id, { within: 'thread' }),
        request: await client.store.steps.readContext(id, (await client.getThread(id)).lastStep),
        http: await got(`/v1/threads/${id}/messages?includeSilent=true`),
        'http lists': await got('/v1/threads'),
        chat: await got(`/v1/agents/helper/chat/${id}/messages`),
        'standard agents': await got(`/api/threads/${id}/messages`),
      };
    };
    const having = async () =>
      Object.entries(await readAll()).flatMap(([name, reading]) =>
        JSON.stringify(reading).includes('secret-of-the-tail') ? [name] : [],
      );
    await client.store.memory.note(id, { asked: 'pay', answered: 'secret-of-the-tail' }, 10);
    expect(await having()).toEqual(Object.keys(await readAll()));
    const http = await HttpClient.connect({ url: api.url });
    const asked = { messageId: 'm2', message: { content: 'hello again' }, requestId: 'r1' };
    const superseded = await http.supersede(id, asked);
    await client.waitForIdle(id);
    expect(await http.supersede(id, asked)).toEqual(superseded);
    await client.waitForIdle(id);
    expect(await having()).toEqual([]);
    expect((await client.getMessages(id)).messages.map(({ content }) => content)).toEqual([
      'hello',
      'fine',
      'hello again',
      'fine',
    ]);
    expect(await client.store.values.get(id, 'paid')).toBe(1);
    // What a model was sent then is a reading that asks for it.
    const { request, gaps } = await client.getRequest(id, '3.1.1');
    expect([JSON.stringify(request).includes('secret-of-the-tail'), gaps]).toEqual([true, []]);
    const gone = await http.getMessages(id, { superseded: true, includeSilent: true });
    expect(gone.messages.map(({ status, content }) => [status, content])).toEqual([
      ['superseded', 'pay'],
      ['superseded', null],
      ['superseded', 'secret-of-the-tail'],
      ['superseded', 'secret-of-the-tail'],
      ['superseded', 'secret-of-the-tail, too'],
      ['superseded', 'secret-of-the-tail'],
    ]);
    await http.close();
  });
});
