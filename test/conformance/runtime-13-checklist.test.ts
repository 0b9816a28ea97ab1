/** runtime §13.9: each item of the conformance checklist, once. */
import { describe, expect, it } from '@jest/globals';
import type { CodeExecutionResult } from '../../src/core/author/code-execution.ts';
import { createSandbox } from '../../src/sandbox/index.ts';
import { terminateNow } from '../sandbox/terminate-now.ts';
import { failureOf, resultOf, runCode, runOnce, sandbox } from '../support/sandbox.ts';

/** Returns the names of a result's members that are present. */
const members = (result: CodeExecutionResult) => Object.keys(result).sort().join(' ');

describe('runtime §13.9 Conformance Checklist', () => {
  // runtime-13-thread.test.ts shows that `state.runCode` is this function.
  it('[runtime 13.9.1] runCode(source, options?) returns a handle at once', async () => {
    const run = runCode('export default 1');
    expect(run.running).toBe(true);
    expect([typeof run.then, typeof run.terminate, run.reports]).toEqual(['function', 'function', []]);
    expect(await run).toMatchObject({ status: 'success', result: 1 });
    expect(run.running).toBe(false);
    expect(await runCode('export default 2', {})).toMatchObject({ status: 'success', result: 2 });
  });

  it('[runtime 13.9.2] accepts TypeScript, as an ES module', async () => {
    const source = 'export default [typeof import.meta.url, this, typeof arguments, await 1 as number];';
    expect(await resultOf(source)).toEqual(['string', undefined, 'undefined', 1]);
    expect(await failureOf('with ({}) {} export default 1;')).toMatchObject({ status: 'link_error' });
    expect(await failureOf('undeclared = 1;')).toMatchObject({ status: 'error', name: 'ReferenceError' });
  });

  it('[runtime 13.9.3] resolves imports from imports, modules from modules, and nothing else', async () => {
    const options = { imports: { a: { a: 1 } }, modules: { './a': 'export const a = 2' } };
    const source = "import { a } from 'a'; import { a as b } from './a'; export default [a, b];";
    expect(await resultOf(source, options)).toEqual([1, 2]);
    for (const specifier of ['b', './b', 'https://example.com/a', 'a/a', './a/a']) {
      expect(await failureOf(`import '${specifier}'`, options)).toMatchObject({
        status: 'link_error',
        specifier,
      });
    }
  });

  it('[runtime 13.9.4] installs globals at module scope', async () => {
    const source =
      "const own = rate * 2; export default [own, 'rate' in globalThis, Object.keys(globalThis)];";
    expect(await resultOf(source, { globals: { rate: 4 } })).toEqual([8, false, []]);
    // A declaration in the program shadows a global of the same name, as in any module.
    expect(await resultOf('const rate = 1; export default rate;', { globals: { rate: 4 } })).toBe(1);
  });

  it('[runtime 13.9.5] isolates globalThis: a global is gone in the next call', async () => {
    const source = 'export default [Object.keys(globalThis), (globalThis.left = 1)];';
    for (const expected of [1, 2]) {
      expect([expected, await resultOf(source, { language: 'javascript' })]).toEqual([expected, [[], 1]]);
    }
    expect((globalThis as { left?: unknown }).left).toBeUndefined();
  });

  it('[runtime 13.9.6] offers no way to evaluate text, share memory, or load a URL', async () => {
    const source = `
      const attempts = [
        () => eval('1'), () => new Function('1'), () => (async () => {}).constructor('1'), () => new SharedArrayBuffer(1),
        () => Atomics.wait, () => WebAssembly.compile, () => import('https://example.com'), () => import('data:text/javascript,1'),
      ];
      export default await Promise.all(attempts.map(async (attempt) => { try { await attempt(); return 'came through' } catch (e) { return e.name } }));`;
    expect(await resultOf(source, { language: 'javascript' })).toEqual([
      'ReferenceError',
      'EvalError',
      'EvalError',
      'ReferenceError',
      'ReferenceError',
      'ReferenceError',
      'TypeError',
      'TypeError',
    ]);
  });

  it('[runtime 13.9.7] enforces memoryLimitBytes, and the next call finds a working sandbox', async () => {
    const source = 'const all = new Map(); for (let i = 0; ; i++) all.set(i, { i });';
    expect(await failureOf(source, { memoryLimitBytes: 16 * 1024 * 1024 })).toMatchObject({
      status: 'memory',
    });
    expect(await resultOf('export default 1')).toBe(1);
  });

  it('[runtime 13.9.8] settles as terminated within 50 ms of terminate, each of several runs', async () => {
    let began = 0;
    const globals = {
      began: () => {
        began += 1;
      },
    };
    const runs = [1, 2].map(() => runCode('await began(); for (;;);', { globals }));
    while (began < 2) await new Promise((resolve) => setImmediate(resolve));
    // Both runs are terminated at once; each settles without waiting for anything, so its own work alone is measured.
    const ends = await Promise.all(runs.map((run) => terminateNow(run, 'enough')));
    expect(ends.map(({ result }) => result)).toMatchObject([
      { status: 'terminated' },
      { status: 'terminated' },
    ]);
    expect(Math.max(...ends.map(({ workMs }) => workMs))).toBeLessThan(50);
  });

  it('[runtime 13.9.9] copies values and bridges functions, so that neither side holds the other’s objects', async () => {
    const given = { list: [1], twice: async (n: number) => n * 2 };
    const source =
      'export default async (given) => { given.list.push(await given.twice(2)); return given; };';
    const { result } = await runCode(source, { execute: { args: [given] }, language: 'javascript' });
    expect(result).toEqual({ list: [1, 4], twice: given.twice });
    expect(given.list).toEqual([1]);
  });

  it('[runtime 13.9.10] resolves the export: name, call, await, marshal', async () => {
    const source =
      'export const sum = (...all: bigint[]) => Promise.resolve({ then: (f: any) => f(all[0]! + all[1]!) });';
    expect(await resultOf(source, { execute: { fn: 'sum', args: [1n, 2n] } })).toBe(3n);
  });

  it('[runtime 13.9.11] returns the five statuses of the contract, each with its own members', async () => {
    const always = 'durationMs logs reports status';
    const ended = runCode('for (;;);');
    ended.terminate();
    const [success, error, link, memory, terminated] = await Promise.all([
      runOnce('export default 1'),
      runOnce('throw new Error()'),
      runOnce('import "nowhere"'),
      runOnce('const a = []; for (;;) a.push([a.length]);', { memoryLimitBytes: 1 }),
      ended,
    ]);
    const statuses = [success, error, link, memory, terminated].map(({ status }) => status);
    expect(statuses).toEqual(['success', 'error', 'link_error', 'memory', 'terminated']);
    // Memory use cannot always be read, and never once the isolate is gone.
    const told = [success, error, link].map((each) => members(each).replace(' memoryUsedBytes', ''));
    expect(told).toEqual([
      'durationMs logs reports result status',
      ...Array(2).fill('durationMs error logs reports status'),
    ]);
    expect([memory, terminated].map(members)).toEqual(Array(2).fill(always.replace(' ', ' error ')));
  });

  it('[runtime 13.9.12] creates a new isolate for each call, also after a failed or terminated one', async () => {
    const alone = createSandbox({ size: 1 });
    const scope = alone.scope();
    const dirty = 'globalThis.left = 1; Object.prototype.left = 1; Array.prototype.push = null;';
    const clean = 'export default [typeof left, {}.left, typeof [].push];';
    const options = { language: 'javascript' } as const;
    try {
      for (const end of ['export default 1;', 'throw 1;', 'await end(); for (;;);']) {
        const run = scope.runCode(`${dirty} ${end}`, { ...options, globals: { end: () => run.terminate() } });
        expect((await run).status).not.toBe('link_error');
        const { result } = await scope.runCode(clean, options);
        expect([end, result]).toEqual([end, ['undefined', undefined, 'function']]);
      }
    } finally {
      await alone.close();
    }
  });

  it('[runtime 13.9.13] captures console if the caller gives none', async () => {
    const { logs } = await runOnce("console.log('a', { b: 1 }); console.error('c'); export default 1;");
    expect(logs.map(({ level, args }) => [level, args])).toEqual([
      ['log', ['a', { b: 1 }]],
      ['error', ['c']],
    ]);
    const written: unknown[] = [];
    const given = { globals: { console: { log: (...args: unknown[]) => void written.push(args) } } };
    const own = await runOnce("await console.log('mine'); export default 1;", given);
    expect([own.status, own.logs, written]).toEqual(['success', [], [['mine']]]);
  });

  it.each([
    ['a token out of place', 'export default 1;\n  let a = ;', { line: 2, column: 11 }],
    ['one behind erased types', 'const a: number = 1; let b = ;', { line: 1, column: 30 }],
    ['one that only the engine sees', '\nlet a = 1;\n  let a = 2;', { line: 3, column: 7 }],
    ['an unclosed block', 'export default 1;\nif (true) {', { line: 2 }],
    [
      'a name that a module lacks',
      "\n\n  import { b } from './m'; export default b",
      { line: 3, column: 12 },
    ],
    ['an unknown specifier', "export default 1;\n  import a from 'nowhere'; a;", { line: 2, column: 17 }],
    ['one in a module', "import './bad'", { line: 2, column: 7, filename: 'bad.ts' }],
  ])('[runtime 13.9.14] locates %s in the caller’s source', async (_, source, place) => {
    const modules = { './m.ts': 'export const a = 1', './bad.ts': '\n  let = ;' };
    const failure = await failureOf(source, { modules, filename: 'main.ts' });
    expect(failure).toMatchObject({ status: 'link_error', filename: 'main.ts', ...place });
  });

  // A scope belongs to one tool call; its signal is that of the execution.
  it('[runtime 13.9.15] ends runs when the abort signal fires, and refuses later ones', async () => {
    const stop = new AbortController();
    const scope = sandbox.scope({ signal: stop.signal });
    const began = Promise.withResolvers<void>();
    const run = scope.runCode('await began(); for (;;);', { globals: { began: () => began.resolve() } });
    await began.promise;
    stop.abort(new Error('the thread was stopped'));
    const expected = {
      status: 'terminated',
      error: { name: 'Terminated', message: 'Aborted: the thread was stopped' },
    };
    expect(await run).toMatchObject(expected);
    expect(await scope.runCode('export default 1')).toMatchObject(expected);
  });
});
