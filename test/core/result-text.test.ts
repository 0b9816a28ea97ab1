/** Results of tools as text: each kind of value, and the parts that cannot be written. */
import { describe, expect, it } from '@jest/globals';
import { toResultText } from '../../src/core/value/result-text.ts';

const cycle: Record<string, unknown> = { a: 1 };
cycle.self = [cycle];
const shared = { a: 1 };

describe('the text of a result', () => {
  it.each<[string, unknown]>([
    ['objects', { b: 1, a: { c: [] }, '': {}, gone: undefined, call: () => 1 }],
    ['lists with absent places', Object.assign([undefined], { 2: 1 })],
    ['truths, nothing and numbers', [true, null, -0, 1.5, 1e300]],
    ['objects of a class with toJSON', new URL('https://example.org/a')],
    ['the key __proto__', JSON.parse('{"__proto__":{"x":1}}')],
  ])('is JSON for %s', (_title, value) => {
    expect(toResultText(value)).toEqual({ text: JSON.stringify(value), unwritten: [] });
  });

  it.each<[string, unknown, string]>([
    ['a text', 'a "quoted" line', 'a "quoted" line'],
    ['a bigint', { amount: 12345678901234567890n }, '{"amount":"12345678901234567890"}'],
    ['a date', { at: new Date(0) }, '{"at":{"$date":"1970-01-01T00:00:00.000Z"}}'],
    ['an invalid date', new Date(Number.NaN), '{"$date":null}'],
    ['a map', new Map([[1, new Set(['a'])]]), '{"$map":[[1,{"$set":["a"]}]]}'],
    ['an error', new TypeError('no'), '{"$error":{"name":"TypeError","message":"no"}}'],
    ['bytes', Buffer.from('abc'), '{"$bytes":{"type":"Uint8Array","length":3}}'],
    ['a buffer', new ArrayBuffer(2), '{"$bytes":{"type":"ArrayBuffer","length":2}}'],
    ['typed numbers', new Float64Array([1.5]), '{"$Float64Array":[1.5]}'],
    ['a number that is invalid', [Number.NaN], '[{"$number":"NaN"}]'],
    ['a pattern', /a/g, '{"$regexp":"/a/g"}'],
    ['a cycle', cycle, '{"a":1,"self":[{"$ref":"cycle"}]}'],
    ['a shared part', [shared, shared], '[{"a":1},{"a":1}]'],
    ['a promise', { later: Promise.resolve(1) }, '{"later":{"$Promise":null}}'],
    ['a function', () => 1, '(a function)'],
  ])('names %s', (_title, value, text) => {
    expect(toResultText(value)).toEqual({ text, unwritten: [] });
  });

  it('marks parts that throw, and writes the others', () => {
    const value = {
      get a() {
        throw new Error('a trap');
      },
      b: {
        toJSON: () => {
          throw new Error('another');
        },
      },
      c: 1,
    };
    expect(toResultText(value)).toEqual({
      text: '{"a":{"$unwritten":"a trap"},"b":{"$unwritten":"another"},"c":1}',
      unwritten: ['a trap', 'another'],
    });
  });

  it('marks parts nested too deeply, and values that grow when written', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level++) deep = [deep];
    expect(toResultText(deep).unwritten).toEqual(['it is nested deeper than 200 levels']);
  });
});
