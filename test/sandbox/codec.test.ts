/** What crosses between host and sandbox, and in which form it arrives. */
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { decode } from '../../src/sandbox/codec/decode.ts';
import { encode } from '../../src/sandbox/codec/encode.ts';
import { LIMITS, recordingTable, roundTrip } from './codec-sample.ts';

describe('supported values', () => {
  it.each<[string, unknown]>([
    ['a string', 'text'],
    ['an empty string', ''],
    ['a string to be escaped', '"\\\u0000\u2028\n\u007f'],
    ['a lone surrogate', 'a\ud800b'],
    ['a long string', 'ab"'.repeat(1000)],
    ['a number', -1.5e-300],
    ['a large number', 1.7976931348623157e308],
    ['NaN', Number.NaN],
    ['infinity', Number.POSITIVE_INFINITY],
    ['negative infinity', Number.NEGATIVE_INFINITY],
    ['negative zero', -0],
    ['a boolean', false],
    ['null', null],
    ['undefined', undefined],
    ['a bigint', -(2n ** 63n)],
    ['a large bigint', 2n ** 4000n - 1n],
    ['zero as a bigint', 0n],
  ])('are primitives: %s', (_title, value) => {
    expect(roundTrip(value)).toBe(value);
    const around = { item: value, list: [value], map: new Map([[value, value]]), set: new Set([value]) };
    expect(roundTrip(around)).toStrictEqual(around);
  });

  it.each<[string, unknown]>([
    ['a plain object', { a: 1, 'not an identifier': [2], 3: { b: undefined } }],
    ['an array', [1, [], [[{}]], undefined]],
    [
      'a Map',
      new Map<unknown, unknown>([
        ['a', { b: 1 }],
        [{ key: 1 }, new Map()],
      ]),
    ],
    ['a Set', new Set<unknown>([1, 'a', { b: new Set() }])],
    ['a Date', new Date(-1)],
    ['a regular expression', /a\/(?<b>["\n])/dgimsuy],
    ['a regular expression of sets', /[\p{L}--a]/v],
  ])('are those of structured clone: %s', (_title, value) => {
    expect(roundTrip(value)).toStrictEqual(value);
    expect(roundTrip(value)).not.toBe(value);
  });

  it('include an invalid date', () => {
    expect((roundTrip(new Date(Number.NaN)) as Date).getTime()).toBeNaN();
  });

  it('include arrays with holes, with named properties, and with a length only', () => {
    const sparse = new Array<number>(4);
    sparse[0] = 1;
    sparse[2] = 3;
    expect(roundTrip(sparse)).toStrictEqual(sparse);
    expect(1 in (roundTrip(sparse) as unknown[])).toBe(false);
    expect(roundTrip(new Array(3))).toStrictEqual(new Array(3));
    const match = /(?<word>b)/.exec('abc') as RegExpExecArray;
    const copy = roundTrip(match) as RegExpExecArray;
    expect([...copy]).toEqual(['b', 'b']);
    expect([copy.index, copy.input, { ...copy.groups }]).toEqual([1, 'abc', { word: 'b' }]);
  });

  it('keep the order of keys, and `__proto__` as a property of its own', () => {
    const value = JSON.parse('{"b":1,"__proto__":{"polluted":true},"a":2}') as Record<string, unknown>;
    const copy = roundTrip(value) as Record<string, unknown>;
    expect(Object.keys(copy)).toEqual(['b', '__proto__', 'a']);
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
    expect(copy.polluted).toBeUndefined();
    expect(Object.getOwnPropertyDescriptor(copy, '__proto__')?.value).toEqual({ polluted: true });
  });

  it('drop symbol keys, hidden properties and null prototypes', () => {
    const value = Object.create(null, { hidden: { value: 1 }, seen: { value: 2, enumerable: true } });
    value[Symbol('key')] = 3;
    expect(roundTrip(value)).toStrictEqual({ seen: 2 });
  });

  it('read getters once, in order', () => {
    let reads = 0;
    const value = {
      get count() {
        return ++reads;
      },
      get again() {
        return ++reads;
      },
    };
    expect(roundTrip(value)).toEqual({ count: 1, again: 2 });
  });

  it('keep cycles and shared references', () => {
    const value: Record<string, unknown> = { list: [], map: new Map(), set: new Set(), holes: new Array(2) };
    value.self = value;
    (value.list as unknown[]).push(value, value.list);
    (value.map as Map<unknown, unknown>).set(value, value.map);
    (value.set as Set<unknown>).add(value.set);
    (value.holes as unknown[])[1] = value.holes;
    const copy = roundTrip(value) as typeof value;
    expect(copy.self).toBe(copy);
    expect((copy.list as unknown[])[0]).toBe(copy);
    expect((copy.list as unknown[])[1]).toBe(copy.list);
    expect((copy.map as Map<unknown, unknown>).get(copy)).toBe(copy.map);
    expect((copy.set as Set<unknown>).has(copy.set)).toBe(true);
    expect((copy.holes as unknown[])[1]).toBe(copy.holes);
  });

  it('do not grow by sharing', () => {
    let value: unknown = [];
    for (let level = 0; level < 30; level++) value = [value, value];
    expect(encode(value, undefined, LIMITS).wire.text.length).toBeLessThan(1000);
    let copy = roundTrip(value) as unknown[];
    for (let level = 0; level < 30; level++) {
      expect(copy[0]).toBe(copy[1]);
      copy = copy[0] as unknown[];
    }
    expect(copy).toEqual([]);
  });

  it.each([
    'Int8Array',
    'Uint8Array',
    'Uint8ClampedArray',
    'Int16Array',
    'Uint16Array',
    'Int32Array',
    'Uint32Array',
    'Float16Array',
    'Float32Array',
    'Float64Array',
    'BigInt64Array',
    'BigUint64Array',
  ] as const)('include only the viewed part of a %s', (kind) => {
    type View = { buffer: ArrayBuffer; length: number } & Iterable<unknown>;
    const Kind = (
      globalThis as unknown as Record<string, new (buffer: ArrayBuffer, ...at: number[]) => View>
    )[kind]!;
    const { buffer } = new Uint8Array(64).map((_, at) => (at % 8 === 7 ? 63 : at));
    const value = new Kind(buffer, 16, 3);
    const copy = roundTrip({ value, after: new Uint8Array([7]) }) as { value: View; after: Uint8Array };
    expect(Object.prototype.toString.call(copy.value)).toBe(`[object ${kind}]`);
    expect([...copy.value]).toEqual([...value]);
    expect(copy.value.buffer.byteLength).toBe(value.length * (copy.value.buffer.byteLength / 3));
    expect([...copy.after]).toEqual([7]);
  });

  it('include ArrayBuffer, DataView, empty views, and Buffer as Uint8Array', () => {
    const bytes = new Uint8Array([1, 2, 3, 4]);
    const copy = roundTrip([
      bytes.buffer,
      new DataView(bytes.buffer, 1, 2),
      new Uint8Array(0),
      Buffer.from('hi'),
    ]);
    const [buffer, view, empty, text] = copy as [ArrayBuffer, DataView, Uint8Array, Uint8Array];
    expect([...new Uint8Array(buffer)]).toEqual([1, 2, 3, 4]);
    expect([view.byteLength, view.byteOffset, view.getUint8(0)]).toEqual([2, 0, 2]);
    expect(empty.length).toBe(0);
    expect([Object.getPrototypeOf(text), [...text]]).toEqual([Uint8Array.prototype, [104, 105]]);
  });

  it('include errors: name and message, in the class of that name if it exists', () => {
    class Special extends RangeError {
      override name = 'Special';
      secret = 1;
    }
    const cause = { cause: 'hidden' };
    const copy = roundTrip([new TypeError('wrong', cause), new Special('odd'), new Error()]) as Error[];
    expect(copy.map(({ name, message }) => [name, message])).toEqual([
      ['TypeError', 'wrong'],
      ['Special', 'odd'],
      ['Error', ''],
    ]);
    expect(copy[0]).toBeInstanceOf(TypeError);
    expect(copy.map((error) => Object.keys(error))).toEqual([[], [], []]);
    expect(copy.map((error) => error.stack)).toEqual(['TypeError: wrong', 'Special: odd', 'Error']);
    expect('cause' in copy[0]! || 'secret' in copy[1]!).toBe(false);
    expect(roundTrip(new DOMException('stopped', 'AbortError'))).toMatchObject({ name: 'AbortError' });
  });

  it('may come from another realm', () => {
    const value = runInNewContext(
      `({ list: [1, , { a: 1 }], map: new Map([[1, new Set([2])]]), date: new Date(5), at: /x/g,
          error: new TypeError('no'), bytes: new Uint8Array([1, 2]), view: new DataView(new ArrayBuffer(3)) })`,
    );
    const copy = roundTrip(value) as Record<string, unknown>;
    expect(copy.list).toStrictEqual(Object.assign(new Array(3), { 0: 1, 2: { a: 1 } }));
    expect(copy.map).toStrictEqual(new Map([[1, new Set([2])]]));
    expect([copy.date, copy.at]).toStrictEqual([new Date(5), /x/g]);
    expect(copy.error).toBeInstanceOf(TypeError);
    expect([...(copy.bytes as Uint8Array)]).toEqual([1, 2]);
    expect((copy.view as DataView).byteLength).toBe(3);
  });

  it('include a Proxy as its visible data', () => {
    const shows = { get: (_: object, key: string | symbol) => `the ${String(key)}` };
    expect(roundTrip(new Proxy({ a: 1 }, shows))).toEqual({ a: 'the a' });
    expect(roundTrip(new Proxy([1, 2], {}))).toEqual([1, 2]);
  });
});

describe('functions', () => {
  it('are transferred by the function table, once each, under a name of at most 64 characters', () => {
    const table = recordingTable();
    const named = { ['n'.repeat(100)]: () => 1 }['n'.repeat(100)]!;
    const { wire, functions } = encode({ a: named, b: [named, () => 2] }, table, LIMITS);
    expect([functions, table.given.length]).toEqual([2, 2]);
    const taken = recordingTable();
    expect(decode(wire, taken, LIMITS)).toEqual({
      a: expect.any(Function),
      b: [expect.any(Function), expect.any(Function)],
    });
    expect(taken.taken).toEqual([
      [0, 'n'.repeat(64)],
      [1, ''],
    ]);
  });

  it('are the original when they return to their side', () => {
    const [here, there] = [recordingTable(), recordingTable()];
    const fn = () => 1;
    const away = decode(encode({ fn }, here, LIMITS).wire, there, LIMITS) as { fn: () => unknown };
    const { wire, functions } = encode([away.fn], there, LIMITS);
    expect(functions).toBe(1);
    expect(there.given).toEqual([]);
    expect(decode(wire, here, LIMITS)).toEqual([fn]);
  });

  it('have the name of their own plain property, without running code to read it', () => {
    const table = recordingTable();
    const getter = Object.defineProperty(() => 1, 'name', { get: () => 'asked' });
    const { proxy, revoke } = Proxy.revocable(() => 1, {});
    revoke();
    decode(encode([getter, proxy, class Named {}], table, LIMITS).wire, table, LIMITS);
    expect(table.taken.map(([, name]) => name)).toEqual(['', '', 'Named']);
  });

  it('are refused without a function table', () => {
    expect(() => encode({ call: function me() {} }, undefined, LIMITS)).toThrow(
      'value.call is the function me and cannot cross the sandbox boundary. Only data can be passed here.',
    );
  });
});
