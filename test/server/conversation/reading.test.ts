/** How a conversation may end, and what is new in it: one reader for every endpoint. */
import { describe, expect, it } from '@jest/globals';
import { LIMITS } from '../../../src/core/value/limit.ts';
import { readConversation } from '../../../src/server/api/conversation/conversation.ts';
import type { GivenMessage, GivenPart } from '../../../src/server/api/conversation/given-message.ts';

const text = (role: string, words: string): GivenMessage => ({
  role,
  parts: [{ kind: 'text', text: words }],
});
const user = (words: string) => text('user', words);
const assistant = (words: string) => text('assistant', words);
const asks = (id: string): GivenMessage => ({
  role: 'assistant',
  parts: [],
  calls: [{ id, name: 'look', arguments: '{}' }],
});
const result = (callId: string, words: string): GivenMessage => ({ ...text('tool', words), callId });
const picture = (bytes = 3): GivenPart => ({
  kind: 'file',
  type: 'image',
  url: `data:image/png;base64,${Buffer.alloc(bytes).toString('base64')}`,
});
const shows = (role: string, ...parts: GivenPart[]): GivenMessage => ({ role, parts });

describe('the reading of a conversation', () => {
  it.each<[string, GivenMessage[], unknown]>([
    ['a message of the user', [user('a'), assistant('b'), user('c')], { message: 'c', last: 'user' }],
    ['one that repeats itself', [user('a'), user('c')], { message: 'c', last: 'user' }],
    ['results', [user('a'), asks('1'), result('1', 'x')], { results: { 1: 'x' }, last: 'tool' }],
    [
      'two results of one call, of which the first counts',
      [user('a'), asks('1'), result('1', 'x'), result('1', 'y')],
      { results: { 1: 'x' }, last: 'tool' },
    ],
    [
      'results, then a message',
      [user('a'), asks('1'), result('1', 'x'), user('c')],
      { message: 'c', results: { 1: 'x' }, last: 'user' },
    ],
    [
      'earlier results, and an answer to them',
      [user('a'), asks('1'), result('1', 'x'), assistant('b'), user('c')],
      { message: 'c', last: 'user' },
    ],
    [
      'system and developer messages behind the user',
      [user('a'), text('system', 's'), text('developer', 'd')],
      { message: 'a', last: 'user' },
    ],
    [
      'a system message behind results',
      [user('a'), asks('1'), result('1', 'x'), text('system', 's')],
      { results: { 1: 'x' }, last: 'tool' },
    ],
    ['the assistant', [user('a'), assistant('b')], { last: 'assistant' }],
    ['nothing', [text('system', 's')], { last: null }],
  ])('that ends with %s', async (_, messages, expected) => {
    const { message, results, last } = await readConversation(messages);
    const texts = Object.fromEntries([...results].map(([id, { text: words }]) => [id, words]));
    expect({
      last,
      ...(message ? { message: message.content } : {}),
      ...(results.size > 0 ? { results: texts } : {}),
    }).toEqual(expected);
  });

  it('attaches the files of new messages and results, and refuses unsupported parts', async () => {
    const { message, results } = await readConversation([
      asks('1'),
      { ...shows('tool', picture()), callId: '1' },
      shows('user', picture()),
    ]);
    expect(message).toMatchObject({ content: '', attachments: [{ mimeType: 'image/png', data: 'AAAA' }] });
    expect(results.get('1')).toMatchObject({ text: '', files: [{ mimeType: 'image/png' }] });
    const elsewhere: GivenPart = { kind: 'file', type: 'image', url: 'https://example.com/a.png' };
    for (const part of [elsewhere, { kind: 'other', type: 'input_audio' } as const])
      for (const end of [shows('user', part), { ...shows('tool', part), callId: '1' }])
        await expect(readConversation([asks('1'), end])).rejects.toThrow(part.type);
  });

  it('takes a file of its own thread by the address that the thread shows', async () => {
    const url = 'https://host/below/v1/threads/t-1/file?path=%2Fattachments%2Fa.png&expires=1&signature=x';
    const said = [shows('user', { kind: 'file', type: 'image', url })];
    expect((await readConversation(said, { threadId: 't-1' })).message?.attachments).toEqual([
      '/attachments/a.png',
    ]);
    await expect(readConversation(said, { threadId: 't-2' })).rejects.toThrow('image');
  });

  it('keeps the newest of the earlier files up to the limit, and names the others', async () => {
    const half = Math.floor(LIMITS.earlierFileBytes / 6) * 3;
    const said = [half, half, half].map((bytes) => shows('user', picture(bytes)));
    const before = await (await readConversation([...said, user('c')])).before();
    expect(before.map(({ content, attachments = [] }) => [content, attachments.length])).toEqual([
      ['[image, not kept]', 0],
      ['', 1],
      ['', 1],
    ]);
    const many = Array.from({ length: LIMITS.attachments + 1 }, () => picture());
    expect(await (await readConversation([shows('user', ...many), user('c')])).before()).toMatchObject([
      { content: '[image, not kept]', attachments: { length: LIMITS.attachments } },
    ]);
  });

  it('rewrites call ids that a provider would refuse, and those of their results alike', async () => {
    const id = `call.${'x'.repeat(80)}@elsewhere`;
    const { before } = await readConversation([asks(id), result(id, 'x'), assistant('b'), user('c')]);
    const [called, answered] = await before();
    expect(called?.toolCalls?.[0]?.id).toMatch(/^[\w-]{1,40}$/);
    expect(answered?.toolCallId).toBe(called?.toolCalls?.[0]?.id);
  });
});
