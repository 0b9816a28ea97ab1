/**
 * Files that do not simply load: they wait for ever, end the process, or leave something open. Rejections are shown by
 * `test/cli/project.test.ts`: this process listens to them itself.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { loadProject } from '../../src/definitions/index.ts';
import { SOUND, type TemporaryProject, temporaryProject } from './temporary-project.ts';

const projects: TemporaryProject[] = [];
afterAll(() => {
  for (const project of projects) project.remove();
});

const TOOL = 'agents/tools/search_web.ts';

/** Loads a project whose tool has these lines at its end. */
function loadWith(lines: string, options: Parameters<typeof loadProject>[1] = {}, more = {}) {
  const project = temporaryProject({ ...SOUND, [TOOL]: `${SOUND[TOOL]}${lines}\n`, ...more });
  projects.push(project);
  return loadProject(project.folder, options);
}

const never = 'await new Promise(() => {});';

describe('[definitions 2.1] a file that does not simply load', () => {
  it('is a problem when an await at its top level never settles; the other files load', async () => {
    const { problems, registry } = await loadWith(never, { fileTimeoutMs: 500 });
    expect(problems).toEqual([
      {
        file: TOOL,
        message:
          'could not be loaded: it has not loaded within 0.5 s. Does it await something at its top level that never comes?',
      },
    ]);
    expect([...registry.agents.keys()]).toEqual(['helper']);
  });

  it('loads when its top-level await takes a while', async () => {
    const { problems } = await loadWith('await new Promise((done) => setTimeout(done, 200));');
    expect(problems).toEqual([]);
  });

  it('is given up as soon as the signal is aborted, with the reason of the signal', async () => {
    const stop = new AbortController();
    const loading = loadWith(never, { signal: stop.signal });
    await wait(100);
    stop.abort(new Error('stopped'));
    await expect(loading).rejects.toThrow('stopped');
  });

  it('is a problem with file and line when it calls process.exit', async () => {
    const { problems } = await loadWith('process.exit(3);');
    expect(problems).toMatchObject([
      {
        file: TOOL,
        line: SOUND[TOOL]!.split('\n').length,
        message: expect.stringContaining('it calls process.exit(3) while it is loaded'),
      },
    ]);
    expect(process.exit.name).not.toBe('exitUnlessLoading');
  });

  it.each([
    ['setInterval(() => {}, 60_000)', 'a timer'],
    ["(await import('node:net')).createServer().listen(0, '127.0.0.1')", 'a server'],
  ])('is warned about when it leaves %s open', async (opened, kind) => {
    const held = 'globalThis.opened';
    const { problems, warnings } = await loadWith(`${held} = ${opened};`);
    const { opened: handle } = globalThis as { opened?: { close?(): void } };
    if (typeof handle?.close === 'function') handle.close();
    expect(problems).toEqual([]);
    expect(warnings).toMatchObject([{ file: TOOL, message: expect.stringContaining(`leaves ${kind} open`) }]);
  });

  it('is not warned about when its timer is unreferenced, has fired, or was cleared', async () => {
    const { warnings } = await loadWith(
      'setInterval(() => {}, 60_000).unref(); clearTimeout(setTimeout(() => {}, 60_000)); await new Promise((done) => setTimeout(done, 1));',
    );
    expect(warnings).toEqual([]);
  });
});

describe('[definitions 2.1] the kinds of files', () => {
  const commonJs =
    "module.exports = require('everthread').defineTool({ description: 'Adds.', execute: async () => 'x' });";
  const module =
    "import { defineTool } from 'everthread';\nexport default defineTool({ description: 'Adds.', execute: async () => 'x' });";
  const withJsx = `const h = (name) => name;\n/** @jsx h */\n${module}\nconst made = <b />;`;

  it.each([
    ['ts', module],
    ['mts', module],
    ['cts', module],
    ['tsx', withJsx],
    ['js', module],
    ['mjs', module],
    ['cjs', commonJs],
    ['jsx', withJsx],
  ])('a definition in a .%s file is read', async (extension, text) => {
    const file = `agents/tools/adds.${extension}`;
    const { registry, problems, warnings } = await loadWith('', {}, { [file]: text });
    expect({ problems, warnings }).toEqual({ problems: [], warnings: [] });
    expect([...registry.tools.keys()]).toContain('adds');
  });
});

describe('[definitions 2.1] what is compiled otherwise than by the author', () => {
  const helper = {
    'agents/_prices.ts':
      'export interface Price { a: 1 }\nexport const priceIn = () => 1;\nlet off; export { off };',
  };
  const importing = (line: string) =>
    loadWith('', {}, { ...helper, 'agents/tools/pays.ts': `${line}\n${SOUND[TOOL]}` });

  it.each([
    ['standard', 'function log(f: any, context: any) { return f; }\nclass A { @log m() {} }'],
    ['legacy', 'function log(a: any, b: any, c: any) {}\nexport class A { @log m() {} }'],
  ])('is refused when it is a %s decorator', async (_, lines) => {
    expect((await importing(lines)).problems).toEqual([
      {
        file: 'agents/tools/pays.ts',
        line: 2,
        message: expect.stringMatching(/^uses a decorator, .*: call the function/),
      },
    ]);
  });

  it.each(['priceOf();', 'export const later = () => priceOf();'])(
    'is refused when it imports a name that does not exist, and %s',
    async (use) => {
      const { problems } = await importing(`\nimport { priceOf } from '../_prices'; ${use}`);
      expect(problems).toEqual([
        {
          file: 'agents/tools/pays.ts',
          line: 2,
          message: "imports 'priceOf' from '../_prices', which does not export it. Did you mean 'priceIn'?",
        },
      ]);
    },
  );

  const chain = {
    'agents/_plain.ts': 'export interface Kind { a: 1 }\nexport const one = 1;',
    'agents/_stars.ts': "export * from './_plain';",
    'agents/_types.ts': "export type * from './_plain';",
    'agents/_shape.ts': 'export default interface Shape { a: 1 }',
    'agents/_fixed.cjs': 'module.exports = { two: 2 };',
    'agents/_given.mjs': 'export const three = 3;',
    'agents/_table.json': '{}',
  };
  const passing = (line: string) =>
    loadWith(
      '',
      {},
      { ...chain, 'agents/_passes.ts': line, 'agents/tools/pays.ts': `import '../_passes';\n${SOUND[TOOL]}` },
    );

  it.each([
    ["import plain from './_plain'; plain();", "imports 'default' from './_plain'"],
    ["import plain from './_plain'; export { plain };", "exports 'default' from './_plain'"],
    ["import given from './_given.mjs'; given();", "imports 'default' from './_given.mjs'"],
    ["export { default } from './_plain';", "exports 'default' from './_plain'"],
    ["export { default } from './_stars';", "exports 'default' from './_stars'"],
    ["export { none } from './_plain';", "exports 'none' from './_plain'"],
    ["export { none as two, one } from './_stars';", "exports 'none' from './_stars'"],
    ["import { none } from './_plain'; export { none };", "exports 'none' from './_plain'"],
  ])('is refused when it takes what does not exist: %s', async (line, message) => {
    const { problems } = await passing(`\n${line}`);
    expect(problems).toEqual([
      {
        file: 'agents/_passes.ts',
        line: 2,
        message: expect.stringContaining(`${message}, which does not export it`),
      },
    ]);
  });

  it('is refused for itself, also if another file was before', async () => {
    const line = "import { none } from '../_plain'; void none;";
    const tools = Object.fromEntries(
      ['one', 'two'].map((name) => [`agents/tools/${name}.ts`, `${line}\n${SOUND[TOOL]}`]),
    );
    const { problems } = await loadWith('', {}, { ...chain, ...tools });
    expect(problems.map(({ file }) => file)).toEqual(['agents/tools/one.ts', 'agents/tools/two.ts']);
  });

  it.each([
    "export { one, Kind } from './_plain';",
    "export { one, Kind } from './_stars';",
    "export { Kind } from './_types';",
    "export { default } from './_shape';",
    "import Shape from './_shape'; export { Shape }; export const s: Shape = { a: 1 };",
    "import fixed from './_fixed.cjs'; void fixed.two;",
    "export { two } from './_fixed.cjs';",
    "import table from './_table.json'; void table;",
    "import path, { join } from 'node:path'; void [path, join]; export { sep } from 'node:path';",
    "export type { none } from './_plain';",
    "export * as plain from './_plain'; import * as all from './_plain'; void all;",
  ])('may take what exists, as a value or a type: %s', async (line) => {
    expect((await passing(line)).problems).toEqual([]);
  });

  it('may import types without saying so, pass them on, and import what is undefined', async () => {
    const line =
      "import { Price, priceIn, off } from '../_prices'; export { Price }; const p: Price = { a: 1 }; void [p, priceIn(), off];";
    expect((await importing(line)).problems).toEqual([]);
  });

  it('is told to name the paths of a referenced tsconfig in its own', async () => {
    const line = "import { priceIn } from '@shop/prices'; priceIn();";
    const app = JSON.stringify({ compilerOptions: { paths: { '@shop/*': ['./agents/_*'] } } });
    const { problems } = await loadWith(
      '',
      {},
      {
        ...helper,
        'tsconfig.json': '{ "files": [], "references": [{ "path": "./tsconfig.app.json" }] }',
        'tsconfig.app.json': app,
        'agents/tools/pays.ts': `${line}\n${SOUND[TOOL]}`,
      },
    );
    expect(problems).toEqual([
      {
        file: 'agents/tools/pays.ts',
        line: 1,
        message: expect.stringMatching(
          /^imports '@shop\/prices', .* write them in tsconfig\.json or extend it$/,
        ),
      },
    ]);
  });
});
