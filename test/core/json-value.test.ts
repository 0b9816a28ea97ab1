/** Values as JSON: what is kept, what is refused, and where. */
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { toJsonText } from '../../src/core/value/json-value.ts';
import { LIMITS } from '../../src/core/value/limit.ts';

const BOUND = { name: 'value', maxBytes: 1000 };
const roundTrip = (value: unknown): unknown => JSON.parse(toJsonText(value, BOUND));

class Account {
  owner = 'me';
}
const cycle: Record<string, unknown> = { a: { b: [1] } };
(cycle.a as { b: unknown[] }).b.push(cycle);

/** A list nested to this depth. */
function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let n = 0; n < depth; n++) value = [value];
  return value;
}

describe('JSON values', () => {
  it.each<[string, unknown]>([
    ['a text with every kind of character', 'a\0\u2028"\\é😀\ud800'],
    ['numbers', [0, -1.5, 1e300, Number.MAX_SAFE_INTEGER, 5e-324]],
    ['true, false and null', [true, false, null]],
    ['an empty list and an empty object', [[], {}]],
    ['objects in lists in objects', { a: [{ b: { c: [[1], 'x'] } }] }],
    [
      'keys that mean something elsewhere',
      JSON.parse('{"__proto__":{"a":1},"constructor":2,"toString":"x"}'),
    ],
    ['the same object twice', ((part) => [part, part])({ a: 1 })],
    ['an object without a prototype', Object.assign(Object.create(null), { a: 1 })],
    ['an object of another realm', runInNewContext('({ a: [{ b: 1 }] })')],
  ])('keep %s unchanged', (_, value) => {
    expect(roundTrip(value)).toEqual(value);
    expect(JSON.stringify(roundTrip(value))).toBe(JSON.stringify(value));
  });

  it('drop undefined properties and write -0 as 0, as JSON does', () => {
    expect(toJsonText({ a: undefined, b: [-0] }, BOUND)).toBe('{"b":[0]}');
  });

  it.each<[string, unknown, string]>([
    ['undefined', undefined, 'value is undefined'],
    ['NaN', { a: { b: Number.NaN } }, 'value.a.b is NaN'],
    ['Infinity', [1, Number.POSITIVE_INFINITY], 'value[1] is Infinity'],
    ['undefined in a list', { list: [1, undefined] }, 'value.list[1] is undefined'],
    ['a hole in a list', Object.assign([1], { length: 3 }), 'value[1] is undefined'],
    ['a bigint', { 'a b': [9n] }, 'value["a b"][0] is a bigint'],
    ['a function', { act: () => 1 }, 'value.act is a function'],
    ['a symbol', [Symbol('s')], 'value[0] is a symbol'],
    ['a symbol used as a key', { a: { [Symbol('s')]: 1 } }, 'value.a[Symbol(s)] is a symbol used as a key'],
    ['a cycle', cycle, 'value.a.b[1] is a cycle'],
    ['an instance of a class', { of: new Account() }, 'value.of is an instance of Account'],
    ['a Date', { at: new Date(0) }, 'value.at is an instance of Date'],
    ['a Map', new Map([['a', 1]]), 'value is an instance of Map'],
    ['bytes', { data: new Uint8Array(2) }, 'value.data is an instance of Uint8Array'],
    ['a boxed text', new String('a'), 'value is an instance of String'],
    ['a promise', [Promise.resolve(1)], 'value[0] is an instance of Promise'],
    [
      'an instance of another realm',
      runInNewContext('[new (class Far {})()]'),
      'value[0] is an instance of Far',
    ],
    ['an object over another', Object.create({ a: 1 }), 'value is an instance of Object'],
    ['an object with toJSON', { toJSON: () => 1 }, 'value.toJSON is a function'],
  ])('refuse %s, and name its place', (_, value, message) => {
    expect(() => toJsonText(value, BOUND)).toThrow(
      expect.objectContaining({ code: 'InvalidValue', message: expect.stringContaining(message) }),
    );
  });

  it('read each property once', () => {
    let reads = 0;
    const shifty = {
      get a() {
        reads += 1;
        return reads === 1 ? 'first' : () => 'second';
      },
    };
    expect(toJsonText(shifty, BOUND)).toBe('{"a":"first"}');
  });

  it.each<[string, unknown]>([
    ['a long text', 'x'.repeat(999)],
    ['a text whose UTF-8 is long', 'é'.repeat(500)],
    ['a text that JSON makes long', '\0'.repeat(200)],
    ['a long list', Array(600).fill(1)],
    ['shared parts without end', Array.from({ length: 60 }).reduce((part) => [part, part], 1)],
    ['a long key', { ['k'.repeat(1001)]: 1 }],
  ])('are limited: %s is too large', (_, value) => {
    expect(() => toJsonText(value, BOUND)).toThrow(
      expect.objectContaining({ code: 'LimitExceeded', message: expect.stringContaining('1000 bytes') }),
    );
  });

  it('may fill their limit to the last byte', () => {
    expect(toJsonText('x'.repeat(998), BOUND)).toHaveLength(1000);
  });

  it('are limited in depth', () => {
    const bound = { name: 'value', maxBytes: 1_000_000 };
    expect(toJsonText(nested(LIMITS.jsonDepth), bound)).toHaveLength(2 * LIMITS.jsonDepth + 1);
    expect(() => toJsonText(nested(LIMITS.jsonDepth + 1), bound)).toThrow('deeper than 1000 levels');
    expect(() => toJsonText(nested(100_000), bound)).toThrow('deeper than 1000 levels');
  });
});
