/** runtime §13.1: what the environment of a program holds, and what the program cannot reach or change. */
import { describe, expect, it } from '@jest/globals';
import { createSandbox } from '../../src/sandbox/index.ts';
import { failureOf, resultOf, runOnce } from '../support/sandbox.ts';

/** The globals of ECMAScript 2026, its annex B and ECMA-402, without those that §13.1 rejects. */
const INTRINSICS = new Set(
  (
    'globalThis Infinity NaN undefined isFinite isNaN parseFloat parseInt decodeURI decodeURIComponent encodeURI ' +
    'encodeURIComponent escape unescape AggregateError Array ArrayBuffer AsyncDisposableStack BigInt BigInt64Array ' +
    'BigUint64Array Boolean DataView Date DisposableStack Error EvalError FinalizationRegistry Float16Array ' +
    'Float32Array Float64Array Function Int8Array Int16Array Int32Array Intl Iterator JSON Map Math Number Object ' +
    'Promise Proxy RangeError ReferenceError Reflect RegExp Set String SuppressedError Symbol SyntaxError TypeError ' +
    'Uint8Array Uint8ClampedArray Uint16Array Uint32Array URIError WeakMap WeakRef WeakSet'
  ).split(' '),
);

const HOST_APIS =
  'fetch setTimeout setInterval setImmediate queueMicrotask process require module exports global Buffer URL ' +
  'TextEncoder crypto performance structuredClone WebAssembly navigator Worker MessageChannel __filename';

describe('runtime §13.1 Isolation', () => {
  it('[runtime 13.1.1] creates a new isolate for each call: no module, intrinsic or binding survives', async () => {
    // A pool of one place, so that the calls run one after another in one process.
    const sandbox = createSandbox({ size: 1 });
    const { runCode } = sandbox.scope();
    const source = `
      import { count, add } from './counter';
      const before = {
        count, onGlobal: typeof mark, onObject: {}.mark, sorted: [2, 1].sort().join(), symbol: Symbol.for('s') === globalThis.s,
      };
      add();
      globalThis.mark = 1;
      globalThis.s = Symbol.for('s');
      Object.prototype.mark = 1;
      Array.prototype.sort = () => [];
      export default { before, after: { count, onGlobal: typeof mark, onObject: ({}).mark, sorted: [2, 1].sort().join() } };`;
    const modules = { './counter': 'export let count = 0; export const add = () => { count += 1; };' };
    try {
      for (let call = 1; call <= 3; call += 1) {
        expect(await runCode(source, { modules, language: 'javascript' })).toMatchObject({
          status: 'success',
          result: {
            before: { count: 0, onGlobal: 'undefined', onObject: undefined, sorted: '1,2', symbol: false },
            after: { count: 1, onGlobal: 'number', onObject: 1, sorted: '' },
          },
        });
      }
    } finally {
      await sandbox.close();
    }
  });

  it('[runtime 13.1.2] has a globalThis with the language’s globals only', async () => {
    const keys = (await resultOf('export default Reflect.ownKeys(globalThis).map(String)')) as string[];
    expect(keys.filter((key) => !INTRINSICS.has(key))).toEqual([]);
    expect([...INTRINSICS].filter((key) => !keys.includes(key))).toEqual([]);
    const chain = 'export default Object.getPrototypeOf(globalThis) === Object.prototype';
    expect(await resultOf(chain)).toBe(true);
  });

  it.each(HOST_APIS.split(' '))('[runtime 13.1.2] has no %s', async (name) => {
    expect(await resultOf(`export default [typeof ${name}, '${name}' in globalThis]`)).toEqual([
      'undefined',
      false,
    ]);
  });

  it('[runtime 13.1.2] has a host API installed by the caller', async () => {
    const globals = { fetch: async (url: string) => `fetched ${url}`, console: { log: () => 'mine' } };
    const source = "export default [await fetch('/x'), await console.log(), 'console' in globalThis]";
    expect(await resultOf(source, { globals })).toEqual(['fetched /x', 'mine', false]);
  });

  it('[runtime 13.1.3] installs globals at module scope, in every module, and never on globalThis', async () => {
    const look = `
      export const seen = [rate, typeof load, 'rate' in globalThis, 'load' in globalThis, Object.keys(globalThis).length,
        Reflect.ownKeys(globalThis).includes('rate'), globalThis.rate];`;
    const source = `${look} import * as other from './other'; export default [seen, other.seen];`;
    const here = [0.5, 'function', false, false, 0, false, undefined];
    expect(
      await resultOf(source, { globals: { rate: 0.5, load: () => 1 }, modules: { './other': look } }),
    ).toEqual([here, here]);
  });

  it('[runtime 13.1.3] keeps the log-collecting console off globalThis too', async () => {
    expect(await resultOf("export default [typeof console, 'console' in globalThis]")).toEqual([
      'object',
      false,
    ]);
  });

  it('[runtime 13.1.4] changes to intrinsics stay inside', async () => {
    const source = `
      export default async function (given, host) {
        const answer = await host();
        const roots = [{}, [], given, given.list, given.map, given.date, given.bytes, host, answer, () => 1, 1, '', 1n, Symbol(),
          /x/, new Error('x'), Promise.resolve(), function* () {}, async () => {}];
        for (const root of roots) {
          for (let at = root; at; at = Object.getPrototypeOf(at)) {
            try { at.polluted = 'by the sandbox'; } catch {}
            try { at.constructor.polluted = 'by the sandbox'; } catch {}
          }
        }
        Object.prototype.toString = Array.prototype.map = JSON.stringify = Promise.prototype.then = () => 'by the sandbox';
        return ({}).polluted + ', ' + [].map();
      }`;
    const given = { list: [1], map: new Map([[1, 2]]), date: new Date(0), bytes: new Uint8Array(2) };
    const host = () => ({ made: [] });
    const result = await resultOf(source, { language: 'javascript', execute: { args: [given, host] } });
    expect(result).toBe('by the sandbox, by the sandbox');
    const values = [
      {},
      [],
      () => 1,
      host,
      given,
      given.map,
      given.date,
      given.bytes,
      '',
      1,
      1n,
      /x/,
      new Error('x'),
    ];
    for (const value of [
      ...values,
      Object,
      Array,
      Function,
      Map,
      Promise,
      Promise.resolve(),
      JSON,
      globalThis,
    ]) {
      expect((value as { polluted?: unknown }).polluted).toBeUndefined();
    }
    expect([String({}), [1].map((one) => one + 1), JSON.stringify([1])]).toEqual([
      '[object Object]',
      [2],
      '[1]',
    ]);
  });

  it.each([
    ["eval('1')", 'ReferenceError'],
    ["globalThis.eval('1')", 'TypeError'],
    ["(0, globalThis['ev' + 'al'])('1')", 'TypeError'],
    ["new Function('return 1')", 'EvalError'],
    ["Function('return 1')", 'EvalError'],
    ["(() => {}).constructor('return 1')", 'EvalError'],
    ["(async () => {}).constructor('return 1')", 'EvalError'],
    ["(function* () {}).constructor('yield 1')", 'EvalError'],
    ["(async function* () {}).constructor('yield 1')", 'EvalError'],
    ["(class {}).constructor('return 1')", 'EvalError'],
    ["Reflect.construct(Function, ['return 1'])", 'EvalError'],
    ["new (class extends Function {})('return 1')", 'EvalError'],
    ["host.constructor('return 1')", 'EvalError'],
    ['new SharedArrayBuffer(8)', 'ReferenceError'],
    ['Atomics.load(new Int32Array(1), 0)', 'ReferenceError'],
    ["await import('https://example.com/a.js')", 'TypeError'],
    ["await import('data:text/javascript,export default 1')", 'TypeError'],
    ["await import('file:///etc/passwd')", 'TypeError'],
    ["await import('node:fs')", 'TypeError'],
    ["await import('./missing')", 'TypeError'],
  ])('[runtime 13.1.5] rejects %s', async (expression, name) => {
    const globals = { host: () => 1 };
    expect(
      await failureOf(`const x = ${expression}; export default 'came through'`, { globals }),
    ).toMatchObject({
      status: 'error',
      name,
    });
    const caught = `let name; try { ${expression} } catch (error) { name = error.name } export default name;`;
    expect(await resultOf(caught, { globals, language: 'javascript' })).toBe(name);
  });

  it('[runtime 13.1.5] imports modules of options.modules dynamically, once', async () => {
    const source = `
      const name = './late';
      const [one, two] = await Promise.all([import(name), import('./late.ts')]);
      export default [one.value, one === two];`;
    const modules = { './late.ts': 'export const value: number = 7; console.log(value);' };
    const { result, logs } = await runOnce(source, { modules });
    expect(result).toEqual([7, true]);
    expect(logs).toHaveLength(1);
  });
});
