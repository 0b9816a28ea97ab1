/** Bodies that carry a conversation: what is kept of one that is larger than a body may be, without a server. */
import { describe, expect, it } from '@jest/globals';
import { KeptBody } from '../../src/server/api/kept-body.ts';

const KIB = 1024;

/** Reads a body in chunks of this size; returns what is kept, and the most bytes that were held. */
function keep(text: string, keptBytes: number, chunkBytes = 1000) {
  const body = new KeptBody(keptBytes);
  const bytes = Buffer.from(text);
  let most = 0;
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    body.add(bytes.subarray(at, at + chunkBytes));
    most = Math.max(most, body.held);
  }
  return { text: Buffer.concat(body.end()).toString(), most };
}

const picture = (letter: string, kib = 40) => `data:image/png;base64,${letter.repeat(kib * KIB)}`;
const said = (...parts: unknown[]) => ({ role: 'user', content: parts });

describe('the body of a conversation', () => {
  it('is passed on byte by byte while it fits', () => {
    const odd = `\uFEFF {"messages" : [ {"content":"${'ü"'.replace('"', '\\"').repeat(9000)}"}, [] , "${'x'.repeat(9000)}" ] ,"a":[{}]}`;
    for (const text of [
      odd,
      '',
      '"',
      '{"messages":[',
      'no JSON',
      JSON.stringify({ messages: [said(picture('A'))] }),
    ])
      for (const chunkBytes of [1, 7, 1000]) expect(keep(text, 100 * KIB, chunkBytes).text).toBe(text);
  });

  it('drops long texts of earlier messages, oldest first, and only as many as necessary', () => {
    const messages = [
      said('first', picture('A'), picture('B')),
      { role: 'assistant', content: 'seen' },
      said(picture('C')),
      said('last', picture('D')),
    ];
    const { text, most } = keep(
      JSON.stringify({ model: picture('M', 1), messages, tools: ['t'] }),
      100 * KIB,
    );
    const gone = 'data:image/png,';
    expect(JSON.parse(text)).toEqual({
      model: picture('M', 1),
      messages: [said('first', gone, gone), messages[1], messages[2], messages[3]],
      tools: ['t'],
    });
    expect(most).toBeLessThanOrEqual(100 * KIB);
  });

  it('replaces a dropped part by its type or the length of its text; bare base64 becomes empty', () => {
    const last = said('last words, '.repeat(3 * KIB));
    const messages = [
      said(`data:text/plain;base64,${'QQ=='.repeat(9 * KIB)}`),
      said('QUJD'.repeat(9 * KIB)),
      said('ü, so to speak. '.repeat(2 * KIB)),
      last,
    ];
    const escaped = JSON.stringify({ initial_messages: messages }).replace('text/plain', 'text\\/plain');
    expect(JSON.parse(keep(escaped, 40 * KIB).text).initial_messages).toEqual([
      said('data:text/plain,'),
      said(''),
      said(`[a text of ${17 * 2 * KIB} bytes, not kept]`),
      last,
    ]);
  });

  it('is refused if its last message, or anything but messages, does not fit', () => {
    for (const body of [
      { messages: [said('first'), said(picture('A'), picture('B'), picture('C'))] },
      { messages: [said('first'), said('last')], tools: [picture('A', 101)] },
      { state: { messages: [said(picture('A')), said(picture('B')), said(picture('C')), said('last')] } },
      { messages: [said('x'.repeat(101 * KIB)), said('last')] },
      { messages: Array.from({ length: 2000 }, () => said('y'.repeat(100))) },
    ])
      expect(() => keep(JSON.stringify(body), 100 * KIB)).toThrow('at most 102400 bytes');
  });

  it('stays within its memory limit, however long it is', () => {
    const body = new KeptBody(100 * KIB);
    const add = (text: string) => {
      body.add(Buffer.from(text));
      expect(body.held).toBeLessThanOrEqual(100 * KIB);
    };
    add('{"messages":[');
    for (let n = 0; n < 1000; n++) add(`${JSON.stringify(said(picture('A')))},`);
    add(`${JSON.stringify(said('last'))}]}`);
    const { messages } = JSON.parse(Buffer.concat(body.end()).toString());
    expect([messages.length, messages.at(-1)]).toEqual([1001, said('last')]);
  });
});
