/** runtime §13.5 and §13.7: which export is executed, what its result is, and what is awaited. */
import { describe, expect, it } from '@jest/globals';
import { failureOf, resultOf, runOnce } from '../support/sandbox.ts';

describe('runtime §13.5 Configured Export Resolution', () => {
  it('[runtime 13.5.1] reads the default export, or the one named by execute.fn', async () => {
    const source = `
      export default 'the default'; export const named = 'a name'; const inner = 'renamed';
      export { inner as 'any text at all', inner as then, inner as __proto__ }; export * from './more';`;
    const modules = { './more': "export const more = 'from another module';" };
    const options = { modules, language: 'javascript' } as const;
    expect(await resultOf(source, options)).toBe('the default');
    for (const [fn, result] of [
      ['default', 'the default'],
      ['named', 'a name'],
      ['any text at all', 'renamed'],
      ['then', 'renamed'],
      ['__proto__', 'renamed'],
      ['more', 'from another module'],
    ] as const) {
      expect(await resultOf(source, { ...options, execute: { fn } })).toBe(result);
    }
  });

  it('[runtime 13.5.1] reads it after evaluation: the value is the last one', async () => {
    expect(await resultOf('export let value = 1; await null; value = 2;', { execute: { fn: 'value' } })).toBe(
      2,
    );
  });

  it('[runtime 13.5.2] calls a function with the arguments, inside', async () => {
    const source = `
      let calls = 0;
      export default function (...args) { calls += 1; return [calls, args, this === undefined, typeof process]; }`;
    const options = { language: 'javascript', execute: { args: [1, { two: 2 }, undefined] } } as const;
    expect(await resultOf(source, options)).toEqual([1, [1, { two: 2 }, undefined], true, 'undefined']);
    expect(await resultOf('export default (...args: unknown[]) => args')).toEqual([]);
    expect(await resultOf('export default () => () => 1')).toBeInstanceOf(Function);
  });

  it.each([
    ['a promise', 'export default Promise.resolve(7)'],
    ['a promise of a promise', 'export default Promise.resolve(Promise.resolve(7))'],
    ['a thenable', 'export default { then(resolve) { resolve(7) } }'],
    [
      'thenables without end in sight',
      'let left = 20; const next = { then(resolve) { resolve(left-- ? next : 7) } }; export default next;',
    ],
    [
      "an async function's answer",
      'export default async () => ({ then: (resolve) => resolve(Promise.resolve(7)) })',
    ],
    [
      'an instance with a then method',
      'class Query { then(resolve) { resolve(7) } } export default () => new Query();',
    ],
    [
      'a function with a then method',
      'export default () => Object.assign(() => 1, { then: (resolve) => resolve(7) })',
    ],
  ])('[runtime 13.5.3] awaits %s', async (_, source) => {
    expect(await resultOf(source, { language: 'javascript' })).toBe(7);
  });

  it('[runtime 13.5.4] returns the final value as the result', async () => {
    const { status, result, error } = await runOnce(
      'export default async () => new Map([[1n, new Date(5)]])',
    );
    expect({ status, error }).toEqual({ status: 'success', error: undefined });
    expect(result).toEqual(new Map([[1n, new Date(5)]]));
    const nothing = await runOnce('export default () => {}');
    expect(nothing.status).toBe('success');
    expect(Object.hasOwn(nothing, 'result')).toBe(true);
    expect(nothing.result).toBeUndefined();
  });

  it.each([
    ['no export', 'const a = 1;', undefined, "no export 'default': it has no exports"],
    ['no default', 'export const a = 1, b = 2;', undefined, "no export 'default': it exports a, b"],
    ['no such name', 'export default 1;', 'total', "no export 'total': it exports default"],
    ['a name of Object.prototype', 'export default 1;', 'toString', "no export 'toString'"],
  ])('[runtime 13.5.5] %s is a link_error that lists the exports', async (_, source, fn, told) => {
    const failure = await failureOf(source, { execute: { fn }, filename: 'main.ts' });
    expect(failure).toMatchObject({ status: 'link_error', name: 'LinkError', filename: 'main.ts' });
    expect(failure.message).toContain(told);
  });

  it.each(['1', '{}', 'undefined', 'Promise.resolve(() => 1)'])(
    '[runtime 13.5.6] arguments for an export that is not a function are an error: %s',
    async (value) => {
      const failure = await failureOf(`export const value = ${value};`, {
        execute: { fn: 'value', args: [1] },
      });
      expect(failure).toMatchObject({ status: 'error', name: 'TypeError' });
      expect(failure.message).toContain("'value' is not a function");
    },
  );

  it.each([
    ['a throw', "export default () => { throw new TypeError('bad') }", 'TypeError', 'bad'],
    ['a rejection', "export default () => Promise.reject(new RangeError('bad'))", 'RangeError', 'bad'],
    [
      'a late rejection',
      "export default async () => { await host(); throw new Error('late') }",
      'Error',
      'late',
    ],
    [
      'a thenable that rejects',
      'export default { then: (_, reject) => reject(new Error("no")) }',
      'Error',
      'no',
    ],
    [
      'an error of its own kind',
      'export default () => { throw new (class Mine extends Error { name = "Mine" })("x") }',
      'Mine',
      'x',
    ],
    ['a text', "export default () => { throw 'just text' }", 'Error', 'just text'],
    [
      'nothing',
      'export default () => { throw undefined }',
      'Error',
      'No reason was given (undefined was thrown).',
    ],
    [
      'an error that looks like ours',
      'export default () => { throw new SyntaxError("out of memory") }',
      'SyntaxError',
      'out of memory',
    ],
    ['a throw at the top level', "throw new Error('top')", 'Error', 'top'],
    ['a throw of a module', "import './m'", 'EvalError', 'of the module'],
  ])('[runtime 13.5.6] %s is an error', async (_, source, name, message) => {
    const modules = { './m': "await null; throw new EvalError('of the module')" };
    const globals = { host: async () => undefined };
    const options = { globals, modules, language: 'javascript' } as const;
    expect(await failureOf(source, options)).toMatchObject({ status: 'error', name, message });
  });
});

describe('runtime §13.7 Event Loop', () => {
  it('[runtime 13.7.1] has a microtask queue of its own, in the order of the language', async () => {
    const source = `
      const order = [];
      Promise.resolve().then(() => order.push('first')).then(() => order.push('third'));
      Promise.resolve().then(() => order.push('second'));
      order.push('sync');
      await null; await null; await null;
      export default order;`;
    expect(await resultOf(source, { language: 'javascript' })).toEqual(['sync', 'first', 'second', 'third']);
  });

  it('[runtime 13.7.1] many calls to the host are pending concurrently', async () => {
    let waiting = 0;
    const all = Promise.withResolvers<number>();
    const host = () => {
      waiting += 1;
      if (waiting === 20) all.resolve(waiting);
      return all.promise;
    };
    const source = 'export default Promise.all(Array.from({ length: 20 }, () => host()))';
    expect(await resultOf(source, { globals: { host } })).toEqual(Array(20).fill(20));
  });

  it('[runtime 13.7.1] an unhandled rejection does not end the run', async () => {
    const source = "Promise.reject(new Error('unheard')); await host(); export default 'went on';";
    expect(await resultOf(source, { globals: { host: async () => 1 } })).toBe('went on');
  });

  it('[runtime 13.7.2] has timers only where the caller bridges them', async () => {
    const names = ['setTimeout', 'setInterval', 'setImmediate', 'clearTimeout'];
    expect(await resultOf(`export default [${names.map((name) => `typeof ${name}`)}]`)).toEqual(
      names.map(() => 'undefined'),
    );
    const source = `
      const fired = new Promise((resolve) => setTimeout(() => resolve('fired'), 1));
      export default [await fired, 'setTimeout' in globalThis];`;
    const globals = { setTimeout: (fn: () => unknown, ms: number) => void setTimeout(fn, ms) };
    expect(await resultOf(source, { globals })).toEqual(['fired', false]);
  });

  it('[runtime 13.7.3] awaits at the top level, in modules too, before the export is read', async () => {
    const order: string[] = [];
    const host = async (step: string) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      order.push(step);
      return step;
    };
    const source = `
      import { early } from './early';
      const main = await host('main');
      export default async () => [early, main, await host('called')];
      await host('behind the export');`;
    const modules = { './early': "export const early = await host('early');" };
    expect(await resultOf(source, { globals: { host }, modules })).toEqual(['early', 'main', 'called']);
    expect(order).toEqual(['early', 'main', 'behind the export', 'called']);
  });

  it('[runtime 13.7.3] a rejection of the evaluation is the error of the run', async () => {
    const source = "Promise.reject(new Error('decoy')); await host(); throw new Error('the real one');";
    expect(await failureOf(source, { globals: { host: async () => 1 } })).toMatchObject({
      status: 'error',
      message: 'the real one',
    });
  });
});
