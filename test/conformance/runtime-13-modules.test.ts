/** runtime §13.2: what a specifier resolves to, and how modules are evaluated. */
import { describe, expect, it } from '@jest/globals';
import { failureOf, resultOf, runOnce } from '../support/sandbox.ts';

describe('runtime §13.2 Module Resolution', () => {
  it('[runtime 13.2.1] takes bare specifiers from imports, and relative ones from modules', async () => {
    const source = `
      import { price } from '@shop/prices';
      import { total } from './lib/total.ts';
      export default total([price, price]);`;
    const options = {
      imports: { '@shop/prices': { price: 21 } },
      modules: {
        './lib/total.ts':
          "import { sum } from '../sum'; export const total = (prices: number[]) => sum(prices);",
        './sum.ts': 'export const sum = (all: number[]) => all.reduce((one, two) => one + two, 0);',
      },
    };
    expect(await resultOf(source, options)).toBe(42);
  });

  it.each([
    'fs',
    'node:fs',
    './missing',
    '../missing',
    './given',
    'source',
    'https://example.com/a.js',
    'http://example.com/a.js',
    'file:///etc/passwd',
    'data:text/javascript,export default 1',
    'blob:1',
    '/etc/passwd',
    '__proto__',
    'constructor',
    './__proto__',
    'boot',
    'sandbox:internal',
  ])('[runtime 13.2.1] fails linkage on %j, used or not, before anything runs', async (specifier) => {
    // `given` exists as an import only, `./source` as a module only.
    const options = { imports: { given: { a: 1 } }, modules: { './source': 'export const a = 1' } };
    const told = { status: 'link_error', specifier, filename: '<runCode>' };
    for (const statement of ['import', 'import * as used from', 'import { a } from', 'export * from']) {
      const source = `console.log('ran'); ${statement} ${JSON.stringify(specifier)}; export default 1;`;
      const { status, error, logs } = await runOnce(source, options);
      expect({ status, ...error }).toMatchObject(told);
      expect(error?.message).toContain(specifier);
      expect(logs).toEqual([]);
    }
  });

  it('[runtime 13.2.1] fails linkage in a module as in the entry, and names that module', async () => {
    const modules = { './lib/a.ts': "\n  import x from 'left-pad'; export default x;" };
    expect(await failureOf("import a from './lib/a'; export default a", { modules })).toMatchObject({
      status: 'link_error',
      specifier: 'left-pad',
      filename: 'lib/a.ts',
    });
  });

  it('[runtime 13.2.2] gives an import a namespace that is an immutable copy of the object', async () => {
    const config = { list: [1], nested: { deep: true }, 'not an identifier': 3 };
    const source = `
      import * as config from 'config';
      import { list, 'not an identifier' as three } from 'config';
      export default async (change) => {
        const attempts = [
          () => { config.list = []; },
          () => { config.added = 1; },
          () => { delete config.nested; },
          () => Object.defineProperty(config, 'list', { value: 0 }),
          () => Object.setPrototypeOf(config, {}),
        ].map((attempt) => { try { attempt(); return 'done'; } catch (error) { return error.name; } });
        list.push(2);
        await change();
        return { attempts, keys: Object.keys(config), list: config.list, nested: config.nested, three };
      };`;
    const change = () => {
      config.list.push(99);
      Object.assign(config, { nested: 'changed', late: 1 });
    };
    const result = await resultOf(source, {
      imports: { config },
      execute: { args: [change] },
      language: 'javascript',
    });
    expect(result).toEqual({
      attempts: Array(5).fill('TypeError'),
      keys: ['list', 'nested', 'not an identifier'],
      list: [1, 2],
      nested: { deep: true },
      three: 3,
    });
    expect(config.list).toEqual([1, 99]);
  });

  it('[runtime 13.2.2] makes the key default the default export', async () => {
    const imports = { greet: { default: (name: string) => `hello ${name}`, loud: true }, plain: { a: 1 } };
    const source = "import greet, { loud } from 'greet'; export default [await greet('you'), loud]";
    expect(await resultOf(source, { imports })).toEqual(['hello you', true]);
    expect(await failureOf("import none from 'plain'; export default none", { imports })).toMatchObject({
      status: 'link_error',
      specifier: 'plain',
    });
  });

  it('[runtime 13.2.3] evaluates modules inside, each once, with live bindings and cycles', async () => {
    const modules = {
      './state.ts':
        "console.log('state'); export let count = 0; export const add = (): void => { count += 1; };",
      './left.ts':
        "import { add } from './state'; import { right } from './right'; add(); export function left(): string { return right; }",
      './right.ts':
        "import { add } from './state'; import { left } from './left'; add(); export const right = typeof left;",
      './names.mjs':
        "export * from './state.ts'; export { left as turn } from './left.ts'; export * as all from './right.ts';",
      './data.json': '{ "__proto__": 1, "list": [1, 2] }',
    };
    const source = `
      import { count, add, turn, all } from './names.mjs';
      import data from './data.json';
      const before = count;
      add();
      export default [before, count, turn(), all.right, Object.hasOwn(data, '__proto__'), data.list, typeof process];`;
    const { result, logs } = await runOnce(source, { modules });
    // In the cycle `right` is evaluated first, when only the hoisted parts of `left` exist.
    expect(result).toEqual([2, 3, 'function', 'function', true, [1, 2], 'undefined']);
    expect(logs.map(({ args }) => args)).toEqual([['state']]);
  });

  it('[runtime 13.2.4] names modules by sandbox: URLs', async () => {
    const modules = { './lib/a.ts': 'export const url = import.meta.url;' };
    const source = `
      import { url } from './lib/a';
      export default [import.meta.url, url, Object.keys(import.meta), Object.getPrototypeOf(import.meta)];`;
    expect(await resultOf(source, { modules, filename: 'report.ts' })).toEqual([
      'sandbox:report.ts',
      'sandbox:lib/a.ts',
      ['url'],
      null,
    ]);
    expect(await resultOf('export default import.meta.url')).toBe('sandbox:<runCode>');
  });

  it('[runtime 13.2.4] shows no host path in any error', async () => {
    const source = `
      const stacks = [];
      Error.stackTraceLimit = Infinity;
      const keep = (error) => { stacks.push(error.stack, error.message, String(error.cause)); };
      try { null.x } catch (error) { keep(error) }
      await fail().catch(keep);
      await give(Symbol()).catch(keep);
      await import('nowhere').catch(keep);
      await import('./broken').catch(keep);
      Error.prepareStackTrace = (error, sites) => sites.map((site) => site.getFileName() + site.getEvalOrigin()).join();
      keep(new Error());
      await fail().catch(keep);
      report(stacks);
      throw Object.assign(new Error('last'), { stack: 'Error: last\\n    at x (' + import.meta.url + ':1:1)' });`;
    const globals = {
      fail: () => {
        throw new Error('of the host');
      },
      give: () => 1,
    };
    const run = await runOnce(source, {
      globals,
      modules: { './broken': 'export const = 1' },
      report: () => undefined,
      language: 'javascript',
    });
    expect(run).toMatchObject({ status: 'error', error: { message: 'last' } });
    const told = JSON.stringify(run);
    expect(run.reports[0]).toHaveLength(21);
    for (const path of [process.cwd(), 'node_modules', 'file:', '/src/', 'node:', 'isolated-vm']) {
      expect(told).not.toContain(path);
    }
  });
});
