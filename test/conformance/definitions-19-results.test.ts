/** definitions §19.2 to §19.5: the handle, what each status reports, lookups of modules, and the logs that are kept. */
import { describe, expect, it } from '@jest/globals';
import type { CodeExecutionOptions } from '../../src/core/author/code-execution.ts';
import { createSandbox, SANDBOX_LIMITS } from '../../src/sandbox/index.ts';
import { eventually } from '../support/eventually.ts';
import { failureOf, resultOf, runCode, runOnce } from '../support/sandbox.ts';

const report = () => undefined;

describe('definitions §19.2 Handle', () => {
  it('[definitions 19.2] can be awaited any number of times, also after the end, and never rejects', async () => {
    for (const source of ['export default 1', 'throw 1', 'import "x"', 'let let']) {
      const run = runCode(source);
      let rejected = false;
      const onRejected = () => {
        rejected = true;
      };
      const [one, two] = await Promise.all([
        run.then((result) => result, onRejected),
        run.then(undefined, onRejected),
      ]);
      expect(two).toBe(one);
      expect(await run).toBe(one);
      expect(rejected).toBe(false);
    }
    expect(await runCode('export default 2').then(({ result }) => (result as number) + 1)).toBe(3);
  });

  it('[definitions 19.2] reports are live: visible before the end, in order, before the callback gets them', async () => {
    const open = Promise.withResolvers<void>();
    const heard: [unknown, number][] = [];
    const run = runCode('report({ n: 1 }); await gate(); report({ n: 2 }); export default 3;', {
      globals: { gate: () => open.promise },
      report: (value) => heard.push([value, run.reports.length]),
    });
    await eventually('the first report is there', () => run.reports.length === 1);
    expect([run.running, run.reports]).toEqual([true, [{ n: 1 }]]);
    open.resolve();
    expect((await run).reports).toEqual([{ n: 1 }, { n: 2 }]);
    expect([run.running, run.reports]).toEqual([false, [{ n: 1 }, { n: 2 }]]);
    expect(heard).toEqual([
      [{ n: 1 }, 1],
      [{ n: 2 }, 2],
    ]);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('no');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no'))],
  ])(
    '[definitions 19.2] a report callback that %s is logged, and does not end the run',
    async (_, callback) => {
      const source = 'report(1); await host(); report(2); await host(); export default 3;';
      const { status, result, reports, logs } = await runOnce(source, {
        report: callback,
        globals: { host: async () => undefined },
      });
      expect({ status, result, reports }).toEqual({ status: 'success', result: 3, reports: [1, 2] });
      expect(logs.map(({ level, args }) => [level, args])).toEqual(
        Array(2).fill(['error', ['options.report threw: no']]),
      );
    },
  );

  it('[definitions 19.2] running is false as soon as terminate is called', async () => {
    const run = runCode('for (;;);');
    expect(run.running).toBe(true);
    run.terminate();
    expect(run.running).toBe(false);
    expect((await run).status).toBe('terminated');
  });
});

describe('definitions §19.3 Result', () => {
  it('[definitions 19.3] error has name, message, stack and location in the caller’s source', async () => {
    const source = `interface A { a: 1 }
function inner(a: A): never {
  throw new RangeError('too far');
}
export default (n?: number, text: string = '') => inner({ a: 1 });`;
    const { error } = await runOnce(source, { filename: 'main.ts' });
    expect(error).toEqual({
      name: 'RangeError',
      message: 'too far',
      stack: [
        'RangeError: too far',
        '    at inner (sandbox:main.ts:3:9)',
        '    at default (sandbox:main.ts:5:51)',
      ].join('\n'),
      filename: 'main.ts',
      line: 3,
      column: 9,
    });
  });

  it('[definitions 19.3] link_error has the specifier, the file and the location', async () => {
    const modules = { './lib/a.ts': "\nimport { x } from 'left-pad';\nexport default x;" };
    const { error } = await runOnce("import a from './lib/a'; export default a", { modules });
    expect(error).toEqual({
      name: 'LinkError',
      message: expect.stringContaining("Cannot resolve 'left-pad' from './lib/a.ts'"),
      specifier: 'left-pad',
      filename: 'lib/a.ts',
      line: 2,
      column: 19,
    });
  });

  it('[definitions 19.3] a result that cannot be serialised is an error, as is one that is too large', async () => {
    expect(await failureOf('export default Symbol()')).toMatchObject({
      status: 'error',
      name: 'SerializationError',
    });
    const large = `export default 'x'.repeat(${SANDBOX_LIMITS.transferBytes + 1})`;
    expect(await failureOf(large)).toMatchObject({ status: 'error', name: 'SerializationError' });
  });

  const said = "report('reported'); console.warn('written', 1n);";
  it.each<[string, string, CodeExecutionOptions]>([
    ['success', `${said} export default 1;`, {}],
    ['error', `${said} throw new Error();`, {}],
    ['link_error', `${said} export const other = 1;`, {}],
    ['memory', `${said} await host(); const a = []; for (;;) a.push([a.length]);`, { memoryLimitBytes: 1 }],
    ['terminated', `${said} await host(); await end(); for (;;);`, {}],
  ])('[definitions 19.3] reports and logs are filled with status %s', async (expected, source, options) => {
    const began = Date.now();
    const globals = { host: async () => undefined, end: () => run.terminate() };
    const run = runCode(source, { ...options, language: 'javascript', report, globals });
    const { status, reports, logs, durationMs } = await run;
    expect({ status, reports }).toEqual({ status: expected, reports: ['reported'] });
    expect(logs).toEqual([{ level: 'warn', args: ['written', 1n], timestamp: expect.any(Number) }]);
    expect(logs[0]?.timestamp).toBeGreaterThanOrEqual(began);
    expect(logs[0]?.timestamp).toBeLessThanOrEqual(Date.now());
    expect(durationMs).toBeGreaterThan(0);
    expect(durationMs).toBeLessThanOrEqual(Date.now() - began + 1);
  });

  it('[definitions 19.3] logs have the level of the method, in order, with copies of the arguments', async () => {
    const source = `
      const live = { n: 1 };
      for (const level of ['log', 'info', 'warn', 'error', 'debug']) { console[level](level, live); live.n += 1; }
      console.log(Symbol('s'), () => 1, new WeakMap());
      export default 1;`;
    const { logs } = await runOnce(source, { language: 'javascript' });
    const levels = ['log', 'info', 'warn', 'error', 'debug'];
    expect(logs.slice(0, 5).map(({ level, args }) => [level, args])).toEqual(
      levels.map((level, index) => [level, [level, { n: index + 1 }]]),
    );
    // A value that cannot cross the boundary is shown as text: logging never fails.
    expect(logs[5]?.args.map((arg) => typeof arg)).toEqual(['string', 'string', 'string']);
    const times = logs.map(({ timestamp }) => timestamp);
    expect(times).toEqual(times.toSorted((one, two) => one - two));
  });

  it('[definitions 19.3] the newest logs are kept, and dropped ones are reported', async () => {
    const { logEntries } = SANDBOX_LIMITS;
    const { logs } = await runOnce(
      `for (let i = 0; i < ${logEntries + 5}; i++) console.log(i); export default 1;`,
    );
    expect(logs).toHaveLength(logEntries + 1);
    expect(logs[0]).toMatchObject({ level: 'warn', args: ['5 earlier log entries were dropped.'] });
    expect([logs[1]?.args, logs.at(-1)?.args]).toEqual([[5], [logEntries + 4]]);
  });

  it('[definitions 19.3] durationMs includes the time a run waited for its slot', async () => {
    const sandbox = createSandbox({ size: 1 });
    const scope = sandbox.scope();
    try {
      const wait = () => new Promise((resolve) => setTimeout(resolve, 300));
      const first = scope.runCode('await wait()', { globals: { wait }, execute: { fn: 'none' } });
      const second = await scope.runCode('export default 1');
      expect((await first).durationMs).toBeGreaterThan(295);
      expect(second.durationMs).toBeGreaterThan(295);
    } finally {
      await sandbox.close();
    }
  });

  it('[definitions 19.3] memoryUsedBytes is the memory held by the program', async () => {
    const hold = (bytes: number) => `globalThis.held = new Uint8Array(${bytes}).fill(1); export default 1;`;
    const read = async (bytes: number) => {
      const { memoryUsedBytes } = await runOnce(hold(bytes), { language: 'javascript' });
      return memoryUsedBytes;
    };
    // Under load the memory size may be missing from a result, so it is read again until it is there.
    const small = await eventually('it is told', () => read(1));
    const large = await eventually('it is told', () => read(20_000_000));
    expect(large - small).toBeGreaterThan(19_000_000);
    expect(large - small).toBeLessThan(40_000_000);
  });
});

describe('definitions §19.4 Semantics, §19.5 Limits', () => {
  it.each([
    ['./a', './a', 'the exact key first'],
    ['./a.ts', './a.ts', 'a name with its extension'],
    ['./b', './b.ts', '.ts'],
    ['./c', './c.tsx', '.tsx'],
    ['./d', './d.js', '.js'],
    ['./e', './e.mjs', '.mjs'],
    ['./f', './f.json', '.json'],
    ['./g', './g/index.ts', 'an index'],
    ['./h', './h/index.json', 'an index of data'],
    ['./b.js', './b.ts', '.js as TypeScript authors write it'],
    ['././lib/../b', './b.ts', 'a path with turns'],
  ])('[definitions 19.4] %s finds %s: %s', async (specifier, key) => {
    const keys =
      './a ./a.ts ./b.ts ./b.mjs ./c.tsx ./d.js ./d/index.ts ./e.mjs ./f.json ./g/index.ts ./h/index.json';
    const modules = Object.fromEntries(
      keys
        .split(' ')
        .map((each) => [each, each.endsWith('.json') ? JSON.stringify(each) : `export default '${each}'`]),
    );
    expect(await resultOf(`import found from '${specifier}'; export default found`, { modules })).toBe(key);
    expect(await resultOf(`export default (await import('${specifier}')).default`, { modules })).toBe(key);
  });

  it.each([
    ['above the ceiling', 2 * SANDBOX_LIMITS.memoryCeiling, SANDBOX_LIMITS.memoryCeiling],
    ['below the floor', 1, SANDBOX_LIMITS.memoryFloor],
    ['within', 16 * 1024 * 1024, 16 * 1024 * 1024],
  ])(
    '[definitions 19.5] the message names the limit in effect for a requested %s',
    async (_, memoryLimitBytes, limit) => {
      const source = 'const a = []; for (;;) a.push(new Array(1000).fill(a.length));';
      const mebibytes = limit / 1024 / 1024;
      expect(await failureOf(source, { memoryLimitBytes })).toEqual({
        status: 'memory',
        name: 'MemoryError',
        message: `The code used more than its limit of ${limit} bytes (${mebibytes} MiB) of memory.`,
      });
    },
  );
});
