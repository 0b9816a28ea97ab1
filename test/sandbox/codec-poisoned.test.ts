/** The codec in a realm whose builtins user code has replaced, as it runs inside the isolate. */
import { readFileSync } from 'node:fs';
import { createContext, type Module, Script, SourceTextModule } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { transform } from 'sucrase';
import type * as Decoding from '../../src/sandbox/codec/decode.ts';
import { decode } from '../../src/sandbox/codec/decode.ts';
import type * as Encoding from '../../src/sandbox/codec/encode.ts';
import { encode } from '../../src/sandbox/codec/encode.ts';
import { LIMITS, recordingTable } from './codec-sample.ts';

const SAMPLE = `(() => {
  const value = {
    texts: ['plain', 'a "quoted" one, and longer than what is looked at by each character', '\\ud800', ''],
    numbers: [1, -0, NaN, Infinity, -2.5e-7, 12n, -(2n ** 70n), true, null, undefined],
    sparse: Object.assign([1, , 3, ,], { named: 'x' }),
    map: new Map([['k', { a: 1 }], [{ b: 2 }, new Set([1, ['c']])]]),
    dates: [new Date(5), new Date(NaN)],
    regexp: /a(?<b>c)/dgimsuy,
    errors: [new TypeError('wrong'), Object.assign(new Error('odd'), { name: 'Odd' })],
    bytes: [new Uint8Array([1, 2, 3]).subarray(1), new Float64Array([1.5]), new DataView(new ArrayBuffer(2)), new ArrayBuffer(3)],
    fns: [function named() {}, () => 1],
    bare: Object.assign(Object.create(null), { x: 1 }),
    proxy: new Proxy({ shown: [1] }, { __proto__: null }),
    get computed() { return ['from a getter']; },
    ['__proto__']: { own: true },
    then: 'not a function',
  };
  value.cycle = [value, value.map];
  return value;
})()`;

/** Replaces everything that can be replaced by functions that record their use and throw. */
const POISON = `(() => {
  const { defineProperty, getOwnPropertyDescriptor } = Object;
  const { ownKeys } = Reflect;
  const record = { __proto__: null, hits: '' };
  const poison = (name) => function () { record.hits += name + ' '; throw 'poisoned: ' + name; };
  const globals = ['Object', 'Function', 'Array', 'String', 'Number', 'Boolean', 'Symbol', 'BigInt', 'Math', 'JSON',
    'Reflect', 'Promise', 'Map', 'Set', 'WeakMap', 'WeakSet', 'WeakRef', 'Date', 'RegExp', 'Error', 'TypeError',
    'RangeError', 'SyntaxError', 'ArrayBuffer', 'DataView', 'Uint8Array', 'Float64Array', 'Float16Array', 'Proxy', 'Iterator'];
  const owners = [];
  for (const name of globals) {
    owners.push([name, globalThis[name]]);
    if (globalThis[name].prototype) owners.push([name + '.prototype', globalThis[name].prototype]);
  }
  const above = Object.getPrototypeOf(Uint8Array);
  owners.push(['TypedArray', above], ['TypedArray.prototype', above.prototype]);
  for (const made of [[].values(), new Map().values(), new Set().values(), ''.matchAll(/a/g), function* () {}.prototype]) {
    owners.push(['Iterator of ' + made, Object.getPrototypeOf(made)]);
  }
  const text = String;
  for (let at = 0; at < owners.length; at++) {
    const title = owners[at][0], owner = owners[at][1];
    const keys = ownKeys(owner);
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i];
      const name = title + '.' + text(key);
      const found = getOwnPropertyDescriptor(owner, key);
      if (!found.configurable || key === 'constructor' || key === 'prototype' || key === 'name') continue;
      if (found.get) defineProperty(owner, key, { __proto__: null, get: poison(name), set: poison(name), configurable: true });
      else if (typeof found.value === 'function') defineProperty(owner, key, { __proto__: null, value: poison(name), configurable: true });
    }
  }
  for (let i = 0; i < globals.length; i++) globalThis[globals[i]] = poison(globals[i]);
  const names = ['value', 'get', 'set', 'writable', 'enumerable', 'configurable', 'toJSON', 'then', 'next', 'done', 'text',
    'bytes', 'root', 'limits', 'functionTable', 'lenient', 'numbers', 'parent', 'via', 'key', 'tail', 'kinds', 'room', 'bytesUsed',
    'elements', 'functions', 'met', 'written', 'last', 'full', 'kind', 'fault', 'hint', 'what', 'node', 'table', 'brand',
    'read', 'prototype', 'index', 'raw', 'a', 'b', 'own', 'stack', 'name', 'message', '-1', '0', '1', '2', '3', '4', '5', '6', '7', 'k'];
  for (let at = 0; at < 2; at++) {
    const owner = at === 0 ? owners[1][1] : owners[5][1];
    for (let i = 0; i < names.length; i++) {
      const name = (at === 0 ? 'Object' : 'Array') + '.prototype.' + names[i];
      defineProperty(owner, names[i], { __proto__: null, get: poison('get ' + name), set: poison('set ' + name), configurable: true });
    }
  }
  return record;
})()`;

const SOURCES = new URL('../../src/sandbox/codec/', import.meta.url);

/** Loads the codec's modules in a separate realm that has nothing of Node's. */
async function openRealm() {
  const context = createContext();
  const modules = new Map<string, Module>();
  const load = (specifier: string): Module => {
    const known = modules.get(specifier);
    if (known) return known;
    const text = readFileSync(new URL(specifier, SOURCES), 'utf8');
    const { code } = transform(text, { transforms: ['typescript'], disableESTransforms: true });
    const module = new SourceTextModule(code, { context, identifier: specifier });
    modules.set(specifier, module);
    return module;
  };
  const open = async (specifier: string) => {
    const module = load(specifier);
    await module.link(load);
    await module.evaluate();
    return module.namespace as unknown;
  };
  return {
    encoding: (await open('./encode.ts')) as typeof Encoding,
    decoding: (await open('./decode.ts')) as typeof Decoding,
    run: (source: string): unknown => new Script(source).runInContext(context),
  };
}

/** The value as the host's own codec writes it, for comparison. */
const expected = (value: unknown) => JSON.stringify(encode(value, recordingTable(), LIMITS));

describe('in a realm with poisoned builtins', () => {
  it('a value is written without calling one', async () => {
    const realm = await openRealm();
    const value = realm.run(SAMPLE);
    const before = realm.encoding.encode(value, recordingTable(), LIMITS);
    const record = realm.run(POISON) as { hits: string };
    const after = realm.encoding.encode(value, recordingTable(), LIMITS);
    expect(record.hits).toBe('');
    expect(after.wire.text).toBe(before.wire.text);
    const copy = decode(after.wire, recordingTable(), LIMITS) as Record<string, unknown>;
    expect(Object.keys(copy)).toContain('__proto__');
    expect(copy.map).toEqual(
      new Map<unknown, unknown>([
        ['k', { a: 1 }],
        [{ b: 2 }, new Set([1, ['c']])],
      ]),
    );
    expect([...(copy.bytes as [Uint8Array])[0]]).toEqual([2, 3]);
    expect(copy.computed).toEqual(['from a getter']);
  });

  it('a value is read without calling one', async () => {
    const realm = await openRealm();
    const { wire } = realm.encoding.encode(realm.run(SAMPLE), recordingTable(), LIMITS);
    const record = realm.run(POISON) as { hits: string };
    const value = realm.decoding.decode(wire, recordingTable(), LIMITS);
    expect(record.hits).toBe('');
    const back = recordingTable();
    expect(expected(decode(realm.encoding.encode(value, back, LIMITS).wire, recordingTable(), LIMITS))).toBe(
      expected(decode(wire, recordingTable(), LIMITS)),
    );
    expect(back.given).toHaveLength(2);
    expect(record.hits).toBe('');
  });

  it('a value is shown without calling one', async () => {
    const realm = await openRealm();
    const value = realm.run(`({
      symbol: Symbol('s'), point: new (class Point {})(), promise: Promise.resolve(), list: [() => 1, new WeakMap()],
      names: new (class Names extends Map {})(), get bad() { throw { message: 'no' }; },
    })`);
    const record = realm.run(POISON) as { hits: string };
    const wire = realm.encoding.encodeLenient(value, LIMITS);
    expect(record.hits).toBe('');
    expect(decode(wire, undefined, LIMITS)).toEqual({
      symbol: '[Symbol(s)]',
      point: '[Point]',
      promise: '[Promise]',
      list: ['[Function]', '[WeakMap]'],
      names: '[Names]',
      bad: '[Getter threw: no]',
    });
  });

  it.each([
    ['({ a: [1, { "b c": Symbol("s") }] })', 'value.a[1]["b c"] is the symbol Symbol(s)'],
    ['({ a: new Map([["k", new (class Point {})()]]) })', 'value.a.get("k") is an instance of Point'],
    ['[Promise.resolve()]', 'value[0] is a Promise'],
    ['Object.assign([], { length: 2 ** 32 - 1 })', 'value is over the limit of 1000000 elements'],
    [
      '(() => { let deep = []; for (let i = 0; i < 1000; i++) deep = [deep]; return deep; })()',
      'nested deeper',
    ],
  ])('an unsupported value is named: %s', async (source, message) => {
    const realm = await openRealm();
    const value = realm.run(source);
    const record = realm.run(POISON) as { hits: string };
    let thrown: unknown;
    try {
      realm.encoding.encode(value, recordingTable(), LIMITS);
    } catch (error) {
      thrown = error;
    }
    expect(record.hits).toBe('');
    const seen = (key: string) => Object.getOwnPropertyDescriptor(thrown, key)?.value as unknown;
    expect([seen('name'), seen('message')]).toEqual(['SerializationError', expect.stringContaining(message)]);
  });

  it.each([
    '[[1],{"a":[2]},"VO"]',
    '[["b",""],"V"]',
    '[["n","toString"],"V"]',
    '[[1],[],"Va"]',
    '[',
    '[[1],["(",""],"VR"]',
  ])('an unreadable text is refused: %s', async (text) => {
    const realm = await openRealm();
    const record = realm.run(POISON) as { hits: string };
    let thrown: unknown;
    try {
      realm.decoding.decode({ text }, undefined, LIMITS);
    } catch (error) {
      thrown = error;
    }
    expect(record.hits).toBe('');
    expect(Object.getOwnPropertyDescriptor(thrown, 'message')?.value).toMatch(/^The sandbox sent a value/);
  });
});
