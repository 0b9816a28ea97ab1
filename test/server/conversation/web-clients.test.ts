/**
 * Requests of three web clients as they are on the wire: with pictures, an edited last message and a trimmed window.
 * None of them has a thread of its own in mind.
 */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { ProviderMessage } from '../../../src/core/message/provider.ts';
import { says, scriptedModel } from '../../../src/testing/index.ts';
import { type TestApi, testApi } from '../../support/api.ts';
import { testRuntime } from '../../support/runtime.ts';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** An agent that numbers its answers, and what its model was shown: words of each message, and `picture`. */
async function begin() {
  const shown: string[][] = [];
  const model = scriptedModel(({ messages }) => {
    shown.push(messages.filter(({ role }) => role !== 'system').map(sketch));
    return says(`answer ${shown.length}`);
  });
  return { api: await testApi(await testRuntime({ model })), shown };
}

function sketch({ role, content }: ProviderMessage): string {
  const parts = Array.isArray(content) ? content : [];
  const text = parts.find(({ type }) => type === 'text')?.text ?? String(content ?? '');
  const picture = parts.some(({ type }) => type === 'image') ? ' picture' : '';
  return `${role}: ${text.replace(/\s*\[image [^\]]*\]/g, '').slice(0, 40)}${picture}`;
}

const user = (content: unknown) => ({ role: 'user', content });
const assistant = (content: string) => ({ role: 'assistant', content });
const withPicture = (text: string) => [
  { type: 'text', text },
  { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
];

/** The text of a stream, from its chunks. */
async function stream(api: TestApi, body: object, headers = {}): Promise<readonly [string, string | null]> {
  const answer = await api.call('POST', '/v1/chat/completions', { stream: true, ...body }, headers);
  expect([answer.status, String(answer.body).trimEnd().split('\n').at(-1)]).toEqual([200, 'data: [DONE]']);
  const pieces = [...String(answer.body).matchAll(/"content":"([^"]*)"/g)].map(([, piece]) => piece);
  return [pieces.join(''), answer.headers.get('everthread-repeated')];
}

describe('a web client', () => {
  it('that resends everything each time (Open WebUI) is answered from the conversation of each request', async () => {
    const { api, shown } = await begin();
    const ask = (...messages: object[]) =>
      stream(api, {
        ...{ model: 'helper', messages: [{ role: 'system', content: 'Be brief.' }, ...messages] },
        ...{ stream_options: { include_usage: true }, chat_id: 'c1', session_id: 's1', id: 'm1' },
        ...{ features: { web_search: false }, variables: {}, background_tasks: { title_generation: true } },
      });
    const first = user(withPicture('What is this?'));
    expect(await ask(first)).toEqual(['answer 1', null]);
    const title = {
      ...{ model: 'helper', stream: false, max_completion_tokens: 1000 },
      messages: [user('### Task:\nGenerate a concise title.')],
    };
    expect((await api.call('POST', '/v1/chat/completions', title)).body.choices[0].message.content).toBe(
      'answer 2',
    );
    const before = [first, assistant('answer 1')];
    expect(await ask(...before, user('And its colour?'))).toEqual(['answer 3', null]);
    // The last message edited, and the same again (regenerate).
    expect(await ask(...before, user('And its size?'))).toEqual(['answer 4', null]);
    expect(await ask(...before, user('And its size?'))).toEqual(['answer 5', null]);
    const told = ['user: What is this? picture', 'assistant: answer 1'];
    expect(shown).toEqual([
      ['user: What is this? picture'],
      ['user: ### Task:\nGenerate a concise title.'],
      [...told, 'user: And its colour?'],
      [...told, 'user: And its size?'],
      [...told, 'user: And its size?'],
    ]);
  });

  it('that resends everything, with its chat as the thread (Open WebUI), edits and regenerates in it', async () => {
    const { api, shown } = await begin();
    const headers = { 'x-thread-id': randomUUID() };
    const ask = async (...messages: object[]) =>
      (await stream(api, { model: 'helper', messages, chat_id: 'c1', id: randomUUID() }, headers))[0];
    const one = [user('one'), assistant('answer 1')];
    expect(await ask(user('one'))).toBe('answer 1');
    expect(await ask(...one, user('two'))).toBe('answer 2');
    expect(await ask(...one, user('two'))).toBe('answer 3');
    expect(await ask(...one, user('two'), assistant('answer 3'), user('three'))).toBe('answer 4');
    expect(await ask(...one, user('zwei'))).toBe('answer 5');
    expect(shown.slice(2)).toEqual([
      ['user: one', 'assistant: answer 1', 'user: two'],
      ['user: one', 'assistant: answer 1', 'user: two', 'assistant: answer 3', 'user: three'],
      ['user: one', 'assistant: answer 1', 'user: zwei'],
    ]);
  });

  it('that trims its history and sends a thread header (LibreChat) keeps the whole thread', async () => {
    const { api, shown } = await begin();
    const headers = { 'x-thread-id': randomUUID(), 'x-stainless-retry-count': '0' };
    const ask = (...messages: object[]) =>
      stream(api, { model: 'helper', user: '6650f', temperature: 1, top_p: 1, messages }, headers);
    expect(await ask(user(withPicture('What is this?')))).toEqual(['answer 1', null]);
    const window = [assistant('answer 1')];
    expect(await ask(...window, user('And its colour?'))).toEqual(['answer 2', null]);
    // Edited, and then the same again: what the thread has is superseded. A marked retry is a repetition.
    expect(await ask(...window, user('And its size?'))).toEqual(['answer 3', null]);
    expect(await ask(...window, user('And its size?'))).toEqual(['answer 4', null]);
    const retry = { ...headers, 'x-stainless-retry-count': '1' };
    const again = { model: 'helper', messages: [...window, user('And its size?')] };
    expect(await stream(api, again, retry)).toEqual(['answer 4', 'true']);
    const edited = [...['user: What is this? picture', 'assistant: answer 1', 'user: And its size?']];
    expect(shown.slice(2)).toEqual([edited, edited]);
    // An earlier one edited, behind which the thread has more.
    expect(await ask(...window, user('And its size?'), assistant('answer 4'), user('Thanks'))).toEqual([
      'answer 5',
      null,
    ]);
    expect(await ask(...window, user('And its age?'))).toEqual(['answer 6', null]);
    expect(shown.at(-1)?.slice(2)).toEqual(['user: And its age?']);
  });

  it('that sends binary parts, state and context (CopilotKit) adds only what is new', async () => {
    const { api, shown } = await begin();
    const threadId = randomUUID();
    const messages: object[] = [];
    const run = async (message: object) => {
      messages.push(message);
      const { status, body } = await api.call('POST', '/ag-ui/helper', {
        ...{ threadId, runId: randomUUID(), messages, tools: [], state: { page: 'home' } },
        context: [{ description: 'The page', value: '{"open":true}' }],
        forwardedProps: { streamSubgraphs: true, config: {} },
      });
      expect([status, String(body).includes('RUN_FINISHED')]).toEqual([200, true]);
      messages.push({ id: randomUUID(), role: 'assistant', content: `answer ${shown.length}` });
    };
    const binary = { type: 'binary', mimeType: 'image/png', data: PNG, filename: 'dot.png' };
    await run({
      ...{ id: randomUUID(), role: 'user' },
      content: [{ type: 'text', text: 'What is this?' }, binary],
    });
    await run({ id: randomUUID(), role: 'user', content: 'And its colour?' });
    // The last message edited: the client replaces it by a new one.
    messages.splice(-2);
    await run({ id: randomUUID(), role: 'user', content: 'And its size?' });
    expect(shown.at(-1)).toEqual([
      ...['user: What is this? picture', 'assistant: answer 1'],
      ...['user: And its colour?', 'assistant: answer 2', 'user: And its size?'],
    ]);
  });
});
