/**
 * Groups 2, 3, 11, 19 and 20 of the adversarial tests: modules, the names they may use, and how their failures are
 * reported.
 */
import { afterAll, describe, expect, it } from '@jest/globals';
import type { CodeExecutionOptions } from '../../src/core/author/code-execution.ts';
import { createSandbox } from '../../src/sandbox/index.ts';
import { terminateNow } from './terminate-now.ts';

const sandbox = createSandbox({ size: 2 });
const scope = sandbox.scope();
afterAll(() => sandbox.close());

const run = (source: string, options?: CodeExecutionOptions) => scope.runCode(source, options);
const later = (ms = 5) => new Promise((resolve) => setTimeout(resolve, ms));

describe('unresolvable specifiers', () => {
  const STATIC = [
    'fs',
    'node:fs',
    'https://example.com/x.js',
    'data:text/javascript,export default 1',
    'file:///etc/passwd',
    '/etc/passwd',
    'sandbox:internal',
    'sandbox:<runCode>',
    '__proto__',
    'constructor',
    'boot',
    'target',
    'isolated-vm',
    './__proto__',
    './boot',
    'toString',
  ];

  it.each(STATIC)('adversarial 2: an import of %j, used or not, is a link_error', async (specifier) => {
    for (const language of ['typescript', 'javascript'] as const) {
      for (const use of ['', 'export default x']) {
        const source = `import x from ${JSON.stringify(specifier)};\n${use}`;
        const outcome = await run(source, {
          language,
          imports: { known: { default: 1 } },
          modules: { './a': '' },
        });
        expect(outcome).toMatchObject({
          status: 'link_error',
          error: { specifier, line: 1, filename: '<runCode>' },
        });
        expect(outcome.error?.stack ?? '').not.toMatch(/node_modules|file:/);
      }
    }
  });

  it.each(STATIC)(
    'adversarial 3: import(%j) rejects inside, and ends the run as error if uncaught',
    async (specifier) => {
      const asked = `import(${JSON.stringify(specifier)})`;
      const caught = await run(
        `export default await ${asked}.then(() => 'loaded', (e) => [e instanceof TypeError, e.message])`,
      );
      expect(caught.result).toEqual([true, expect.stringContaining('Cannot resolve')]);
      expect(await run(`await ${asked}`)).toMatchObject({ status: 'error', error: { name: 'TypeError' } });
    },
  );
});

describe('import()', () => {
  it('adversarial 3: returns one namespace per module, however it is specified', async () => {
    const source = `
      import * as ns from './x';
      const [a, b] = await Promise.all([import('./x'), import('./x.js')]);
      export default [a === b, a === ns, a.default, Object.keys(a)]`;
    const { result } = await run(source, { modules: { './x.ts': 'export default 7; export const y = 1' } });
    expect(result).toEqual([true, true, 7, ['default', 'y']]);
  });

  it('adversarial 3: rejects with the error of a module that throws, at once or after an await', async () => {
    const modules = {
      './now': 'throw new RangeError("now")',
      './later': 'await host(); throw new RangeError("later")',
    };
    const source = `
      const tell = (e) => e.name + ': ' + e.message;
      export default await Promise.all(['./now', './later', './now', './later'].map((s) => import(s).catch(tell)))`;
    const { result } = await run(source, { modules, globals: { host: () => later() } });
    expect(result).toEqual(['RangeError: now', 'RangeError: later', 'RangeError: now', 'RangeError: later']);
  });

  it('adversarial 3: resolves 20 000 concurrent imports', async () => {
    const source = `
      const all = await Promise.all(Array.from({ length: 20_000 }, () => import('./x')));
      export default [all.length, new Set(all).size, all[0].default]`;
    expect((await run(source, { modules: { './x': 'export default 1' } })).result).toEqual([20_000, 1, 1]);
  });

  it('adversarial 3: of another module never runs amid synchronous code', async () => {
    // A synchronous call into the engine would run pending microtasks while `report` waits for its host.
    const body = `
      let inTheMiddle = true;
      let early = 0;
      const calls = [];
      for (let i = 0; i < 40; i++) Promise.resolve().then(() => { if (inTheMiddle) early++; calls.push(host(i)); });
      for (let i = 0; i < 2000; i++) report(i);
      inTheMiddle = false;
      await null; await null;
      export default [early, (await Promise.all(calls)).length];`;
    const modules = { './a': body, './b': body, './c': body };
    const source = `
      const all = await Promise.all(['./a', './b', './c'].map((s) => import(s)));
      export default all.map((ns) => ns.default)`;
    const outcome = await run(source, {
      modules,
      globals: { host: (x: number) => x },
      report: () => undefined,
    });
    expect(outcome).toMatchObject({
      status: 'success',
      result: [
        [0, 40],
        [0, 40],
        [0, 40],
      ],
    });
  });
});

describe('top-level await', () => {
  const globals = { host: () => later() };

  it('adversarial 11: a throw before or after a host call is the error of the run', async () => {
    for (const source of ['throw new Error("mine")', 'await host(); throw new Error("mine")']) {
      expect(await run(source, { globals })).toMatchObject({ status: 'error', error: { message: 'mine' } });
      const outcome = await run('import "./m"; export default 1', { globals, modules: { './m': source } });
      expect(outcome).toMatchObject({ status: 'error', error: { message: 'mine', filename: 'm' } });
    }
  });

  it('adversarial 11: an unawaited rejected promise is not the error of the run', async () => {
    const decoy =
      'Promise.reject(new Error("decoy")); (async () => { await host(); throw new Error("decoy 2") })();';
    const fine = await run(`${decoy} await host(); await host(); export default 'fine'`, { globals });
    expect(fine).toMatchObject({ status: 'success', result: 'fine' });
    for (const wait of ['', 'await host();', 'await host(); await host(); await host();']) {
      const outcome = await run(`${decoy} ${wait} throw new Error("real")`, { globals });
      expect(outcome).toMatchObject({ status: 'error', error: { message: 'real' } });
    }
  });

  it('adversarial 11: a failing module does not fail another one that is still waiting', async () => {
    const modules = {
      './bad': 'Promise.reject(new Error("decoy")); throw new Error("real")',
      './slow': 'await host(); await host(); export default "slow"',
      './tla': 'Promise.reject(new Error("decoy")); await host(); throw new Error("real, later")',
    };
    const source = `
      const all = await Promise.allSettled(['./slow', './bad', './tla', './slow'].map((s) => import(s)));
      export default all.map((each) => each.reason?.message ?? each.value.default)`;
    expect((await run(source, { modules, globals })).result).toEqual(['slow', 'real', 'real, later', 'slow']);
  });

  it('adversarial 11: one that never settles is ended by terminate', async () => {
    const execution = run('await new Promise(() => {})');
    await later(100);
    const { result, workMs } = await terminateNow(execution, 'waited enough');
    expect(result).toMatchObject({ status: 'terminated', error: { message: 'waited enough' } });
    expect(workMs).toBeLessThan(50);
  });
});

describe('error positions', () => {
  it.each([
    ['of a throw', '\n\n        throw new Error("x")', {}, [3, 15]],
    ['in the first line, with globals', 'throw new Error("x", host)', { globals: { host: 1 } }, [1, 7]],
    ['behind erased types', 'const a: Array<string> = []; throw new Error(String(a))', {}, [1, 36]],
    ['after the lines of an interface', 'interface A {\n  b: string\n}\nthrow new Error("x")', {}, [4, 7]],
  ] as const)(
    'adversarial 19: %s are those of the author’s source',
    async (_, source, options, [line, column]) => {
      expect(await run(source, options)).toMatchObject({
        status: 'error',
        error: { line, column, filename: '<runCode>' },
      });
    },
  );

  it('adversarial 19: in a module have its name', async () => {
    const modules = { './lib/a.ts': 'export const a: number = 1;\nthrow new Error("in a")' };
    const { error } = await run('import "./lib/a.ts"', { modules });
    expect(error).toMatchObject({ filename: 'lib/a.ts', line: 2, column: 7, message: 'in a' });
    expect(error?.stack).toContain('sandbox:lib/a.ts:2:7');
  });

  it('adversarial 19: of a syntax error are those of the author’s source, in the entry and in a module', async () => {
    const entry = await run('const a = 1;\nconst b = ;', { language: 'javascript', globals: { host: 1 } });
    expect(entry).toMatchObject({
      status: 'link_error',
      error: { name: 'SyntaxError', line: 2, column: 11 },
    });
    const module = await run('import "./b"', { modules: { './b': 'let x: number = 1\nlet y: = 2' } });
    expect(module).toMatchObject({
      status: 'link_error',
      error: { name: 'SyntaxError', line: 2, filename: 'b' },
    });
  });
});

describe('an unterminated source', () => {
  it.each([
    ['a html comment', 'foo;\n<!-- foo', 2],
    ['an unfinished template', 'foo;\nconst t = `abc', 2],
    ['an unfinished comment', 'foo;\n/* abc', 2],
    ['an unfinished block', 'foo;\nif (foo) {', 2],
    ['an unfinished call', 'foo(\n', 2],
    ['an unfinished loop', 'foo;\nwhile (foo)', 2],
    ['an unfinished export', 'foo;\nexport default', 2],
  ])('adversarial 20: %s is a link_error at the author’s location', async (_, source, line) => {
    const outcome = await run(source, { language: 'javascript', globals: { foo: 1 } });
    expect(outcome).toMatchObject({
      status: 'link_error',
      error: { name: 'SyntaxError', filename: '<runCode>' },
    });
    expect(outcome.error?.line).toBeLessThanOrEqual(line);
  });

  it('adversarial 20: a comment at its end changes nothing', async () => {
    for (const end of ['// comment', '/* comment */', '// import x from "fs"', '//# sourceURL=/etc/passwd']) {
      const outcome = await run(`export default foo; ${end}`, { globals: { foo: 7 } });
      expect(outcome).toMatchObject({ status: 'success', result: 7 });
    }
  });
});
