/** definitions §19.1: the options of a run. An invalid option gives a result with a status; nothing throws. */
import { describe, expect, it } from '@jest/globals';
import type { CodeExecution, CodeExecutionOptions } from '../../src/core/author/code-execution.ts';
import { SANDBOX_LIMITS } from '../../src/sandbox/index.ts';
import { resultOf, runCode, runOnce } from '../support/sandbox.ts';

const run = runCode as (source: unknown, options?: unknown) => CodeExecution;
class Account {
  owner = 'me';
}
const cannotBeRead = {
  get secret(): string {
    throw new Error('a getter that throws');
  },
};

/** A description, the invalid options, and what the error message must name. */
const INVALID: readonly (readonly [string, unknown, string])[] = [
  ['an unknown key', { timeout: 1 }, 'options.timeout'],
  ['options that are no object', 7, 'options'],
  ['null for options', null, 'options'],
  ['a list for options', [], 'options'],
  ['an unknown language', { language: 'python' }, 'options.language'],
  ['execute that is not an object', { execute: 'main' }, 'options.execute'],
  ['an unknown key of execute', { execute: { fn: 'a', arguments: [] } }, 'options.execute.arguments'],
  ['an empty fn', { execute: { fn: '' } }, 'options.execute.fn'],
  ['fn that is not text', { execute: { fn: 1 } }, 'options.execute.fn'],
  ['args that are no array', { execute: { args: { 0: 1 } } }, 'options.execute.args'],
  ['args that cannot cross', { execute: { args: [1, { a: new Account() }] } }, 'options.execute.args[1].a'],
  ['a symbol among args', { execute: { args: [Symbol('x')] } }, 'options.execute.args[0]'],
  ['imports that are no object', { imports: ['a'] }, 'options.imports'],
  ['an import that is not an object', { imports: { a: 1 } }, 'options.imports["a"]'],
  ['a relative import', { imports: { './a': {} } }, 'options.imports["./a"]'],
  ['an absolute import', { imports: { '/a': {} } }, 'options.imports["/a"]'],
  ['a URL for an import', { imports: { 'https://a.b/c': {} } }, 'options.imports["https://a.b/c"]'],
  ['an import that cannot cross', { imports: { a: { b: new WeakMap() } } }, 'options.imports.a.b'],
  ['modules that are no object', { modules: 'export default 1' }, 'options.modules'],
  ['a bare module', { modules: { a: '' } }, 'options.modules["a"]'],
  ['a module that is not text', { modules: { './a': () => 1 } }, 'options.modules["./a"]'],
  ['one module under two keys', { modules: { './a': '', './b/../a': '' } }, 'options.modules["./b/../a"]'],
  ['globals that are no object', { globals: 'a' }, 'options.globals'],
  ['a global that is not an identifier', { globals: { 'a-b': 1 } }, 'options.globals["a-b"]'],
  ['a global that is a keyword', { globals: { await: 1 } }, 'options.globals["await"]'],
  ['a global that cannot cross', { globals: { a: [new Account()] } }, 'options.globals.a[0]'],
  ['a global that cannot be read', { globals: { a: cannotBeRead } }, 'a getter that throws'],
  ['report that is not a function', { report: true }, 'options.report'],
  ['report twice', { report: () => 1, globals: { report: 1 } }, 'options.globals["report"]'],
  ['an empty filename', { filename: '' }, 'options.filename'],
  ['a filename of two lines', { filename: 'a\nb' }, 'options.filename'],
  ['a memory limit of 0', { memoryLimitBytes: 0 }, 'options.memoryLimitBytes'],
  ['a negative memory limit', { memoryLimitBytes: -1 }, 'options.memoryLimitBytes'],
  ['an infinite memory limit', { memoryLimitBytes: Infinity }, 'options.memoryLimitBytes'],
  ['a memory limit in words', { memoryLimitBytes: '64MB' }, 'options.memoryLimitBytes'],
];

describe('definitions §19.1 Options', () => {
  it.each(INVALID)(
    '[definitions 19.1] %s settles as link_error and names the field',
    async (_, options, field) => {
      const handle = run("console.log('ran'); export default 1;", options);
      const { durationMs, ...result } = await handle;
      expect(result).toEqual({
        status: 'link_error',
        error: { name: 'InvalidCodeExecutionOptions', message: expect.stringContaining(field) },
        reports: [],
        logs: [],
      });
      expect(durationMs).toBeGreaterThanOrEqual(0);
      expect(handle.running).toBe(false);
    },
  );

  it.each([undefined, 1, null, {}, ['export default 1']])(
    '[definitions 19.1] a source that is not text settles as link_error: %j',
    async (source) => {
      const { status, error } = await run(source);
      expect({ status, error }).toEqual({
        status: 'link_error',
        error: { name: 'InvalidCodeExecutionOptions', message: 'source must be a string.' },
      });
    },
  );

  it('[definitions 19.1] a source that is too long settles as link_error, modules counted', async () => {
    const half = ' '.repeat(SANDBOX_LIMITS.sourceBytes / 2);
    const { status, error } = await runOnce(`${half} export default 1`, { modules: { './a': half } });
    expect({ status, name: error?.name }).toEqual({
      status: 'link_error',
      name: 'InvalidCodeExecutionOptions',
    });
    expect(error?.message).toContain(`${SANDBOX_LIMITS.sourceBytes}`);
  });

  it('[definitions 19.1] every option may be omitted or undefined', async () => {
    const undefinedOnes: Record<keyof CodeExecutionOptions, undefined> = {
      language: undefined,
      execute: undefined,
      imports: undefined,
      modules: undefined,
      globals: undefined,
      report: undefined,
      filename: undefined,
      memoryLimitBytes: undefined,
    };
    const source = 'export default [import.meta.url, typeof report, 1 as number]';
    for (const options of [undefined, {}, undefinedOnes, { execute: { fn: undefined, args: undefined } }]) {
      const { status, result } = await run(source, options);
      expect({ status, result }).toEqual({
        status: 'success',
        result: ['sandbox:<runCode>', 'undefined', 1],
      });
    }
  });

  it('[definitions 19.1] options are read at the call: later changes by the caller are ignored', async () => {
    const options = {
      globals: { list: [1] },
      modules: { './a': 'export default 1' } as Record<string, string>,
    };
    const handle = runCode("import a from './a'; export default [list, a]", options);
    options.globals.list.push(2);
    options.modules['./a'] = 'export default 2';
    expect((await handle).result).toEqual([[1], 1]);
  });

  it('[definitions 19.1] the language applies to modules too', async () => {
    const modules = { './a.ts': 'export const a: number = 1;' };
    const source = "import { a } from './a.ts'; export default a;";
    expect(await resultOf(source, { modules })).toBe(1);
    const { status, error } = await runOnce(source, { modules, language: 'javascript' });
    expect({ status, name: error?.name }).toEqual({ status: 'link_error', name: 'SyntaxError' });
  });

  it('[definitions 19.1] report exists only if a callback is given, in modules too', async () => {
    const source = "import './a'; report({ from: 'main' }); export default typeof report;";
    const heard: unknown[] = [];
    const { result, reports } = await runOnce(source, {
      modules: { './a': "report('a')" },
      report: (value) => heard.push(value),
    });
    expect([result, reports, heard]).toEqual(['function', ['a', { from: 'main' }], ['a', { from: 'main' }]]);
    expect(await runOnce(source.replace("import './a';", ''))).toMatchObject({
      status: 'error',
      error: { name: 'ReferenceError', message: 'report is not defined' },
    });
  });
});
