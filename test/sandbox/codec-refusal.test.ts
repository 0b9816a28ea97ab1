/** What does not cross between host and sandbox, how it is named, and what is shown in its place. */
import { describe, expect, it } from '@jest/globals';
import { decode } from '../../src/sandbox/codec/decode.ts';
import { encode, encodeLenient } from '../../src/sandbox/codec/encode.ts';
import { LIMITS, recordingTable, roundTrip } from './codec-sample.ts';

const shown = (value: unknown) => decode(encodeLenient(value, LIMITS), undefined, LIMITS);
const refused = (value: unknown, root?: string) => () => encode(value, recordingTable(), LIMITS, root);

/** A constant, since the linter forbids a property named `then`. */
const THEN = 'then';

class Point {
  x = 1;
}
class Names extends Map {}
class Row extends Array {}
class Bytes extends Uint8Array {}
class Moment extends Date {}

describe('unsupported values', () => {
  it.each<[string, unknown, string]>([
    ['a class instance', new Point(), 'an instance of Point'],
    ['a subclass of Map', new Names(), 'an instance of Names'],
    ['a subclass of Array', new Row(), 'an instance of Row'],
    ['a subclass of a typed array', new Bytes(2), 'an instance of Bytes'],
    ['a subclass of Date', new Moment(), 'an instance of Moment'],
    ['a subclass of Set', new (class Tags extends Set {})(), 'an instance of Tags'],
    ['an instance of a class without a name', new (class {})(), 'an instance of'],
    ['a boxed number', Object(1), 'a boxed Number'],
    ['a boxed string', Object('a'), 'a boxed String'],
    ['a boxed symbol', Object(Symbol('a')), 'a boxed Symbol'],
    ['a WeakMap', new WeakMap(), 'an instance of WeakMap'],
    ['a WeakSet', new WeakSet(), 'an instance of WeakSet'],
    ['a WeakRef', new WeakRef({}), 'an instance of WeakRef'],
    ['a Promise', Promise.resolve(1), 'a Promise'],
    ['a generator', (function* () {})(), 'an instance of Generator'],
    ['an iterator', [1].values(), 'an instance of Array Iterator'],
    ['an Intl object', new Intl.NumberFormat('en'), 'an instance of NumberFormat'],
    ['a URL', new URL('http://a'), 'an instance of URL'],
    ['an AbortSignal', new AbortController().signal, 'an instance of AbortSignal'],
    ['a symbol', Symbol('mine'), 'the symbol Symbol(mine)'],
    ['an imitation of Map', Object.create(Map.prototype), 'an instance of Map'],
    [
      'what only its tag calls a Date',
      new (class {
        [Symbol.toStringTag] = 'Date';
      })(),
      'an instance of',
    ],
    ['a Proxy of a Map', new Proxy(new Map(), {}), 'an instance of Map'],
    ['a SharedArrayBuffer', new SharedArrayBuffer(1), 'an instance of SharedArrayBuffer'],
    ['a view on one', new Uint8Array(new SharedArrayBuffer(1)), 'a Uint8Array on a SharedArrayBuffer'],
    ['a DataView on one', new DataView(new SharedArrayBuffer(1)), 'a DataView on a SharedArrayBuffer'],
    ['an object with a `then` method', { [THEN]() {} }, 'an object with a `then` method'],
    ['an array with a `then` method', Object.assign([], { [THEN]() {} }), 'an object with a `then` method'],
  ])('are refused and named: %s', (_title, value, what) => {
    expect(refused({ a: [value] })).toThrow(`value.a[0] is ${what}`);
    expect(refused({ a: [value] })).toThrow(expect.objectContaining({ name: 'SerializationError' }));
    expect(refused(value, 'the result')).toThrow(/^the result is .* and cannot cross the sandbox boundary\./);
    expect(() => shown([value])).not.toThrow();
  });

  it('include detached buffers, and views outside their buffer', () => {
    const detached = new Uint8Array(4);
    const view = new DataView(detached.buffer);
    const { buffer } = detached;
    structuredClone(buffer, { transfer: [buffer] });
    expect(refused(detached)).toThrow('a Uint8Array whose buffer is detached or has shrunk');
    expect(refused(view)).toThrow('a DataView whose buffer is detached or has shrunk');
    expect(refused(buffer)).toThrow('a detached ArrayBuffer');
    const resizable = new ArrayBuffer(8, { maxByteLength: 8 }) as ArrayBuffer & {
      resize(length: number): void;
    };
    const late = new Int16Array(resizable, 4, 2);
    expect(roundTrip(late)).toEqual(new Int16Array(2));
    resizable.resize(4);
    expect(refused(late)).toThrow('an Int16Array whose buffer is detached or has shrunk');
  });

  it('include a revoked Proxy', () => {
    for (const target of [{}, [], new Map()]) {
      const { proxy, revoke } = Proxy.revocable(target, {});
      revoke();
      expect(refused([proxy])).toThrow('value[0] is a revoked Proxy');
      expect(shown([proxy])).toEqual(['[revoked Proxy]']);
    }
  });

  it.each<[string, unknown, string]>([
    ['properties', { a: { b_1: { $: Symbol() } } }, 'value.a.b_1.$ is'],
    ['names that are no identifiers', { 'a b': { '"': Symbol() } }, 'value["a b"]["\\""] is'],
    ['long names, cut', { ['k'.repeat(100)]: Symbol() }, `value["${'k'.repeat(64)}…"] is`],
    ['items', [0, [0, 0, Symbol()]], 'value[1][2] is'],
    ['items among holes', Object.assign(new Array(9), { 7: Symbol() }), 'value[7] is'],
    ['names of an array', Object.assign([1], { extra: Symbol() }), 'value.extra is'],
    ['values of a Map by their keys', new Map([['k', new Map([[1, Symbol()]])]]), 'value.get("k").get(1) is'],
    ['other values of a Map', new Map([[{}, Symbol()]]), 'value.values()[0] is'],
    [
      'keys of a Map',
      new Map([
        [1, 1],
        [Symbol(), 1],
      ] as [unknown, unknown][]),
      'value.keys()[1] is',
    ],
    ['items of a Set', new Set([1, Symbol()]), 'value.values()[1] is'],
  ])('are named by their path: %s', (_title, value, path) => {
    expect(refused(value)).toThrow(path);
  });

  it('are named by the end of a long path', () => {
    let value: unknown = Symbol();
    for (let level = 0; level < 400; level++) value = { level: value };
    expect(refused(value)).toThrow(/^value…(\.level){40,60} is/);
  });

  it('pass on the error of a getter or a trap', () => {
    const mine = new Error('mine');
    const toss = () => {
      throw mine;
    };
    const thrown = (value: object) => {
      try {
        encode([value], undefined, LIMITS);
      } catch (error) {
        return error;
      }
      return undefined;
    };
    expect(
      thrown({
        get a() {
          return toss();
        },
      }),
    ).toBe(mine);
    expect(thrown(new Proxy({}, { ownKeys: toss }))).toBe(mine);
    expect(thrown(new Proxy({}, { getPrototypeOf: toss }))).toBe(mine);
    expect(thrown(new Proxy([1], { get: toss }))).toBe(mine);
  });
});

describe('values that are only shown', () => {
  it('keep supported parts, and describe the rest', () => {
    const value = {
      fine: [1, new Date(0)],
      call: function named() {},
      arrow: [() => 1][0],
      [THEN]: () => 1,
      point: new Point(),
      promise: Promise.resolve(),
      symbol: Symbol('x'),
      get bad() {
        throw new Error('no');
      },
      get worse() {
        throw 'text';
      },
      trap: new Proxy(
        {},
        {
          ownKeys() {
            throw new TypeError('trapped');
          },
        },
      ),
    };
    expect(shown(value)).toEqual({
      fine: [1, new Date(0)],
      call: '[Function: named]',
      arrow: '[Function]',
      [THEN]: '[Function: then]',
      point: '[Point]',
      promise: '[Promise]',
      symbol: '[Symbol(x)]',
      bad: '[Getter threw: no]',
      worse: '[Getter threw: text]',
      trap: '[Getter threw: trapped]',
    });
  });

  it('are truncated where nesting is too deep', () => {
    const shallow = { ...LIMITS, maxDepth: 2 };
    const wire = encodeLenient([[['deep'], 1]], shallow);
    expect(decode(wire, undefined, { ...LIMITS, maxDepth: 3 })).toEqual([['[Too deep]', 1]]);
  });

  it('are truncated at the limits', () => {
    const few = { ...LIMITS, maxElements: 10 };
    expect(decode(encodeLenient([1, new Array(50).fill(0), { a: 1 }], few), undefined, few)).toEqual([
      1,
      '[Too large]',
      '[Too large]',
    ]);
    const value = [
      'short',
      { a: ['b', new Map([[{}, 'x'.repeat(90)]])] },
      'x'.repeat(200),
      [[[1]]],
      new Uint8Array(50),
      2n ** 300n,
    ];
    const all = encodeLenient(value, LIMITS);
    const whole = all.text.length + all.bytes!.length;
    for (let maxBytes = 80; maxBytes < whole + 200; maxBytes++) {
      const wire = encodeLenient(value, { ...LIMITS, maxBytes });
      expect(wire.text.length + (wire.bytes?.length ?? 0)).toBeLessThanOrEqual(maxBytes);
      const copy = JSON.stringify(decode(wire, undefined, LIMITS), (_key, item) =>
        typeof item === 'bigint' ? `${item}` : item,
      );
      if (maxBytes < whole) expect(copy).toContain('[Too large]');
      if (maxBytes >= whole + 128) expect(copy).not.toContain('[Too large]');
    }
  });
});
