/** Groups 15 and 16 of the adversarial tests: values that must not cross, because of their kind or their size. */
import { afterAll, describe, expect, it } from '@jest/globals';
import type { CodeExecutionOptions } from '../../src/core/author/code-execution.ts';
import { createSandbox } from '../../src/sandbox/index.ts';
import { isLong } from '../support/long-form.ts';
import { createFigures } from './figures.ts';

const MIB = 1024 * 1024;
/** §D15: maximum MiB by which an attack by size may make this process grow. */
const GROWTH_MIB = 64;

const sandbox = createSandbox({ size: 2 });
const scope = sandbox.scope();
const figures = createFigures('transfer row', 'status', 'ms', 'host rss growth MiB');
afterAll(async () => {
  await sandbox.close();
  figures.print();
});

const run = (source: string, options?: CodeExecutionOptions) =>
  scope.runCode(source, { language: 'javascript', ...options });

describe('kinds of values that are refused', () => {
  const KINDS: Readonly<Record<string, string>> = {
    'an instance of a class': 'new (class A { x = 1 })()',
    'a subclass of Map': 'new (class M extends Map {})()',
    'a subclass of Array': 'new (class L extends Array {})()',
    'a boxed number': 'Object(1)',
    'a WeakMap': 'new WeakMap()',
    'a WeakRef': 'new WeakRef({})',
    'a generator': '(function* () {})()',
    'an Intl object': 'new Intl.NumberFormat()',
    'a symbol': 'Symbol("s")',
    'a promise': 'Promise.resolve(1)',
    'an iterator': '[][Symbol.iterator]()',
  };

  it.each(Object.entries(KINDS))(
    'adversarial 16: %s is refused by its path, on the way out',
    async (_, text) => {
      const source = `
      const value = ${text};
      const tell = (e) => e.name + ': ' + e.message;
      const told = [await host({ a: [value] }).catch(tell)];
      try { report({ a: [value] }) } catch (e) { told.push(tell(e)) }
      report(told);
      export default { deep: new Map([['k', value]]) };`;
      const options = { globals: { host: () => 'LEAK' }, report: () => undefined };
      const { status, error, reports } = await run(source, options);
      expect(status).toBe('error');
      expect(error).toMatchObject({
        name: 'SerializationError',
        message: expect.stringContaining('.deep.get("k")'),
      });
      expect(reports).toEqual([[expect.stringContaining('[0].a[0]'), expect.stringContaining('.a[0]')]]);
      for (const told of reports[0] as string[]) expect(told).toMatch(/^SerializationError: /);
    },
  );

  it.each([
    ['a promise', Promise.resolve(1)],
    ['a URL', new URL('https://example.com')],
    ['an instance of a class', new (class Secret {})()],
    ['an AbortSignal', new AbortController().signal],
    ['a symbol', Symbol('host')],
    ['a WeakMap', new WeakMap()],
    ['the process', process],
    ['globalThis', globalThis],
  ])('adversarial 16: %s is refused on the way in', async (_, value) => {
    const given = await run('export default typeof given', { globals: { given: { deep: value } } });
    expect(given).toMatchObject({
      status: 'link_error',
      error: { message: expect.stringContaining('.globals.given.deep') },
    });
    // A promise that a host function returns is awaited, so it is not refused.
    if (value instanceof Promise) return;
    const tell = 'export default await host().catch((e) => e.name + ": " + e.message)';
    const answered = await run(tell, { globals: { host: () => ({ deep: value }) } });
    expect(answered.result).toMatch(/^SerializationError: the returned value\.deep is /);
  });

  it('adversarial 16: globalThis and a module namespace are copied as their visible data only', async () => {
    const { result } = await run('import * as ns from "./m"; export default [globalThis, ns]', {
      modules: { './m': 'export const a = 1' },
    });
    expect(result).toEqual([{}, { a: 1 }]);
  });

  it('adversarial 16: a Buffer arrives as a Uint8Array of its own bytes, without the rest of the pool', async () => {
    const source = 'export default [given.constructor === Uint8Array, given.buffer.byteLength, [...given]]';
    const { result } = await run(source, { globals: { given: Buffer.from('abc') } });
    expect(result).toEqual([true, 3, [97, 98, 99]]);
  });
});

describe('values that are too large', () => {
  const SIZES: Readonly<Record<string, string>> = {
    'a text of 512 MB': '"x".repeat(2 ** 29 - 24)',
    'an array of the greatest length': '(() => { const a = []; a.length = 2 ** 32 - 1; return a })()',
    'one with a function in it': '(() => { const a = [() => 1]; a.length = 2 ** 32 - 1; return a })()',
    'a Proxy that says so': 'new Proxy([], { get: (t, k) => (k === "length" ? 2 ** 32 - 1 : t[k]) })',
    '300 000 functions': 'Array.from({ length: 300_000 }, () => () => 1)',
    'nesting of 501': '(() => { let a = []; for (let i = 0; i < 501; i++) a = [a]; return a })()',
    'nesting of 100 000': '(() => { let a = {}; for (let i = 0; i < 1e5; i++) a = { a }; return a })()',
    'a Map of 600 000': 'new Map(Array.from({ length: 6e5 }, (_, i) => [i, i]))',
    'bytes of 100 MB': 'new Uint8Array(1e8)',
    'a huge bigint': '1n << 800_000_000n',
    'a million keys': '(() => { const o = {}; for (let i = 0; i <= 1e6; i++) o[i] = i; return o })()',
    'escapes that grow sixfold': '"\\u0000".repeat(8 * 1024 * 1024)',
    'a sixteen-megabyte key': '({ ["k".repeat(17 * 1024 * 1024)]: 1 })',
  };

  const CROSSINGS = [
    (text: string) => `export default ${text}`,
    (text: string) => `export default await host(${text})`,
    (text: string) => `report(${text})`,
  ];
  /** The same codec serves all crossings: the short form uses one of them per size, in turn. */
  const sizes = Object.entries(SIZES).map(
    ([name, text], index) =>
      [name, text, isLong ? CROSSINGS : CROSSINGS.filter((_, n) => n === index % 3)] as const,
  );

  it.each(sizes)(
    'adversarial 15: %s is refused, as result, argument or report',
    async (name, text, crossings) => {
      const before = process.memoryUsage.rss();
      const begun = performance.now();
      const options = {
        globals: { host: () => 'LEAK' },
        report: () => undefined,
        memoryLimitBytes: 256 * MIB,
      };
      const ends: string[] = [];
      for (const crossing of crossings) {
        const { status, error, result } = await run(crossing(text), options);
        ends.push(status);
        expect(['error', 'memory']).toContain(status);
        expect(result).toBeUndefined();
        expect(error?.message.length).toBeLessThan(500);
      }
      const growth = (process.memoryUsage.rss() - before) / MIB;
      figures.add(name, ends.join(' '), performance.now() - begun, growth);
      expect(growth).toBeLessThan(GROWTH_MIB);
    },
  );

  it('adversarial 15: thirty levels of shared doubling are transferred as the same graph', async () => {
    const { result } = await run(
      'let a = ["end"]; for (let i = 0; i < 30; i++) a = [a, a]; export default a',
    );
    let at = result as unknown[];
    for (let i = 0; i < 30; i++) {
      expect(at[0]).toBe(at[1]);
      at = at[0] as unknown[];
    }
    expect(at).toEqual(['end']);
  });

  it.each([
    ['a message of 50 MB', 'throw new Error("x".repeat(5e7))'],
    ['a name of 1 MB', 'throw Object.assign(new Error("x"), { name: "n".repeat(1e6) })'],
    ['a stack of 50 MB', 'throw Object.defineProperty(new Error("x"), "stack", { value: "s".repeat(5e7) })'],
    ['a text of 50 MB', 'throw "x".repeat(5e7)'],
    ['a message of 50 MB, later', 'await null; throw new Error("x".repeat(5e7))'],
  ])('adversarial 15: an error with %s is truncated', async (name, source) => {
    const before = process.memoryUsage.rss();
    const { status, error, durationMs } = await run(source, { memoryLimitBytes: 256 * MIB });
    expect(['error', 'memory']).toContain(status);
    expect(JSON.stringify(error).length).toBeLessThan(50_000);
    const growth = (process.memoryUsage.rss() - before) / MIB;
    figures.add(name, status, durationMs, growth);
    expect(growth).toBeLessThan(GROWTH_MIB);
  });
});
