/** Values of the sandbox as JSON text: each kind, what cannot be written, and the bounds. */
import { describe, expect, it } from '@jest/globals';
import { toBase64 } from '../../src/core/value/base64.ts';
import { toTaggedJson } from '../../src/core/value/tagged-json.ts';
import { SEEDS, seededRandom } from '../support/seeded-random.ts';

const MAX = 100_000;
const write = (value: unknown, maxBytes = MAX): unknown => {
  const written = toTaggedJson(value, { maxBytes });
  return written.ok ? written.text : 'too large';
};

describe('tagged JSON', () => {
  it.each<[string, unknown]>([
    ['texts', 'a "quoted" line\nand \u2028 €'],
    ['numbers', [0, -1.5, 1e300, 2 ** 53]],
    ['truths and nothing', [true, false, null]],
    ['objects, in the order of their keys', { b: 1, a: { c: [] }, '': {} }],
    ['the key __proto__', JSON.parse('{"__proto__":{"x":1}}')],
    ['keys that begin with $ among others', { $a: 1, $b: 2 }],
  ])('writes %s as JSON does', (_title, value) => {
    expect(write(value)).toBe(JSON.stringify(value));
  });

  it.each<[string, unknown, string]>([
    ['bigint', 12345678901234567890n, '{"$bigint":"12345678901234567890"}'],
    [
      'Map',
      new Map<unknown, unknown>([
        [1, 'a'],
        [{}, null],
      ]),
      '{"$map":[[1,"a"],[{},null]]}',
    ],
    ['Set', new Set([1n]), '{"$set":[{"$bigint":"1"}]}'],
    ['Date', new Date(0), '{"$date":"1970-01-01T00:00:00.000Z"}'],
    ['invalid Date', new Date(Number.NaN), '{"$date":null}'],
    ['bytes', new Uint8Array([1, 2, 3, 4]), '{"$bytes":"AQIDBA=="}'],
    ['a range of bytes', new Uint8Array([1, 2, 3]).subarray(1), '{"$bytes":"AgM="}'],
    ['a buffer', new Uint8Array([255]).buffer, '{"$bytes":"/w=="}'],
    ['a view', new DataView(new Uint8Array([1, 2]).buffer, 1), '{"$bytes":"Ag=="}'],
    ['typed numbers', new Float64Array([1.5, Number.NaN]), '{"$Float64Array":[1.5,{"$number":"NaN"}]}'],
    ['typed bigints', new BigInt64Array([-1n]), '{"$BigInt64Array":[{"$bigint":"-1"}]}'],
    [
      'no number',
      [Number.NaN, Infinity, -Infinity],
      '[{"$number":"NaN"},{"$number":"Infinity"},{"$number":"-Infinity"}]',
    ],
    ['minus zero', -0, '-0'],
    ['RegExp', /a"b/g, '{"$regexp":"/a\\"b/g"}'],
    ['Error', new TypeError('no'), '{"$error":{"name":"TypeError","message":"no"}}'],
  ])('tags %s', (_title, value, text) => {
    expect(write(value)).toBe(text);
    JSON.parse(text);
  });

  it.each<[string, unknown, string]>([
    ['a function', function named() {}, '{"$function":"named"}'],
    ['a symbol', Symbol('s'), '{"$symbol":"s"}'],
    ['what is absent', { a: undefined, b: 1 }, '{"b":1}'],
    ['absent places of a list', Object.assign([undefined], { 2: 1 }), '[null,null,1]'],
    ['nothing at all', undefined, 'null'],
  ])('names %s, which JSON cannot represent', (_title, value, text) => {
    expect(write(value)).toBe(text);
  });

  it('escapes an object that looks like a tag', () => {
    expect(write({ $bigint: '1' })).toBe('{"$object":{"$bigint":"1"}}');
    expect(write({ $bigint: '1', gone: undefined })).toBe('{"$object":{"$bigint":"1"}}');
    expect(write({ $object: { $date: 1 } })).toBe('{"$object":{"$object":{"$object":{"$date":1}}}}');
  });

  it('ignores a type name that an object gives itself', () => {
    expect(write({ [Symbol.toStringTag]: 'Map', a: 1 })).toBe('{"a":1}');
  });

  it('writes a shared value each time, and cuts cycles', () => {
    const shared = { a: 1 };
    expect(write([shared, shared])).toBe('[{"a":1},{"a":1}]');
    const cycle: Record<string, unknown> = { a: 1 };
    cycle.self = [cycle];
    expect(write(cycle)).toBe('{"a":1,"self":[{"$ref":"cycle"}]}');
    const map = new Map<string, unknown>();
    map.set('me', map);
    expect(write(map)).toBe('{"$map":[["me",{"$ref":"cycle"}]]}');
  });

  it('writes values of any depth', () => {
    let value: unknown = 1;
    for (let depth = 0; depth < 20_000; depth++) value = [value];
    expect(write(value)).toBe(`${'['.repeat(20_000)}1${']'.repeat(20_000)}`);
  });

  it.each([
    ['', 2],
    ['€', 5],
    [['a', { b: 'é' }], 16],
  ])('counts the bytes of %j: %i fit, one less does not', (value, bytes) => {
    expect(write(value, bytes)).toBe(JSON.stringify(value));
    expect(write(value, bytes - 1)).toBe('too large');
  });

  it('stops at the limit for a value that grows when written', () => {
    const grow = (leaf: unknown, levels: number): unknown =>
      levels === 0 ? leaf : grow([leaf, leaf], levels - 1);
    expect(write(grow(1, 60))).toBe('too large');
    const absent = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`k${index}`, undefined]));
    expect(write(absent)).toBe('{}');
    expect(write(Array.from({ length: 50_000 }, () => absent))).toBe('too large');
    expect(write(new Uint8Array(MAX))).toBe('too large');
    expect(write('x'.repeat(MAX))).toBe('too large');
    expect(write(new Array(MAX + 1))).toBe('too large');
  });

  it.each(SEEDS)('writes bytes as the platform does (seed %i)', (seed) => {
    const random = seededRandom(seed);
    for (let length = 0; length < 50; length++) {
      const bytes = Uint8Array.from({ length }, () => random.below(256));
      expect(toBase64(bytes)).toBe(Buffer.from(bytes).toString('base64'));
    }
  });
});
