/** Sources prepared for the engine, and run as modules of this process to check the result. */
import { createContext, SourceTextModule, SyntheticModule } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import {
  isSourceError,
  type PreparedModule,
  prepareModule,
  prepareTransform,
  type SourceModule,
} from '../../src/sandbox/child/transform.ts';

const INNER = 'inner-7f3a';
/** An error of any realm. */
const SYNTAX_ERROR = expect.objectContaining({ name: 'SyntaxError' });

function typescript(source: string): SourceModule {
  return { name: '<runCode>', source, language: 'typescript' };
}

function javascript(source: string): SourceModule {
  return { name: '<runCode>', source, language: 'javascript' };
}

function prepare(module: SourceModule, globals: readonly string[] = []): PreparedModule {
  return prepareModule(module, { specifier: INNER, globals });
}

interface Run {
  readonly ns: Record<string, unknown>;
  /** Specifiers in the order in which they were requested. */
  readonly linked: readonly string[];
}

/**
 * Runs composed code; every specifier but the internal one resolves to a module with the exports given in `supplied`.
 */
async function run(
  code: string,
  globals: readonly unknown[] = [],
  supplied: Readonly<Record<string, Record<string, unknown>>> = {},
): Promise<Run> {
  const context = createContext({});
  const linked: string[] = [];
  const module = new SourceTextModule(code, { context, identifier: 'sandbox:<runCode>' });
  await module.link((specifier) => {
    const inner = {
      meta: { url: 'sandbox:<runCode>' },
      load: async (asked: unknown, options: unknown) => ({ asked, options }),
      ...Object.fromEntries(globals.map((value, index) => [`g${index}`, value])),
    };
    if (specifier !== INNER) linked.push(specifier);
    const exported: Record<string, unknown> = specifier === INNER ? inner : (supplied[specifier] ?? {});
    return new SyntheticModule(
      Object.keys(exported),
      function (this: SyntheticModule) {
        for (const [name, value] of Object.entries(exported)) this.setExport(name, value);
      },
      { context },
    );
  });
  await module.evaluate();
  return { ns: { ...module.namespace } as Record<string, unknown>, linked };
}

function failureOf(module: SourceModule): unknown {
  try {
    prepare(module);
  } catch (error) {
    return error;
  }
  return undefined;
}

function lineCount(text: string): number {
  return text.split('\n').length;
}

describe('erasure', () => {
  it('[runtime 13.6.3] erases types and checks none', async () => {
    const source = `
      interface Point { x: number }
      enum Color { Red, Green = 'g' }
      class Pair<T> { constructor(private readonly a: T, public b?: T) {} get(): T { return this.a! } }
      export const point = { x: 'not a number' } as unknown as Point satisfies Point;
      export const [red, green] = [Color.Red, Color.Green];
      export default new Pair<number>(<any>1).get();`;
    const { ns } = await run(prepare(typescript(source)).compose());
    expect(ns).toEqual({ point: { x: 'not a number' }, red: 0, green: 'g', default: 1 });
  });

  it('[runtime 13.6.1] leaves JavaScript unchanged', () => {
    const source = 'export default 1 < 2 > (3)';
    expect(prepare(javascript(source)).bare).toBe(source);
  });

  it('keeps the line numbers', () => {
    const source = 'type A =\n  | 1\n  | 2;\nimport type {\n  B,\n} from "b";\n\nexport const c: A = 1;\n';
    const { bare } = prepare(typescript(source));
    expect(lineCount(bare)).toBe(lineCount(source));
    expect(bare.split('\n')[7]).toBe('export const c = 1;');
  });

  it('[runtime 13.2.1] links what it drops as unused, so that unknown specifiers still fail', async () => {
    const source = `import fs from 'fs'; import { type A, b } from './b'; import * as ns from './ns';
      import { used } from 'used'; import 'effect'; import {} from './empty'; export default used as ns.T`;
    const { linked } = await run(prepare(typescript(source)).compose(), [], { used: { used: 1 } });
    expect(linked.toSorted()).toEqual(['./b', './empty', './ns', 'effect', 'fs', 'used']);
  });

  it('leaves type imports erased', async () => {
    const source = `import type { A } from 'a'; import { type B } from 'b'; import type C from 'c';
      export type { D } from 'd'; export { type E } from 'e'; export type * from 'f'; export default 1`;
    const { linked } = await run(prepare(typescript(source)).compose());
    expect(linked).toEqual([]);
  });

  it('reports a syntax error at its position in the author’s text', () => {
    expect(failureOf(typescript('const a: number = 1;\nlet b: = 2;'))).toMatchObject({
      name: 'SyntaxError',
      message: 'Unexpected token',
      filename: '<runCode>',
      line: 2,
      column: 8,
    });
  });

  it('reports a source nested too deeply', () => {
    const failure = failureOf(typescript('('.repeat(20_000)));
    expect(isSourceError(failure)).toBe(true);
    expect(failure).toMatchObject({
      name: 'SyntaxError',
      message: expect.stringContaining('nested too deeply'),
    });
  });
});

describe('a namespace', () => {
  it.each([
    ['namespace X { export const a = 1 }', 1, 1],
    ['let y = 1;\n  export namespace X.Y { function f() {} }', 2, 10],
    ['module X { interface A {} ; let q: A }', 1, 1],
    ['namespace X { namespace Y { export class A {} } }', 1, 1],
    ['namespace X { type A = { b: string }\n export enum E { A } }', 1, 1],
    ['namespace X { declare const a: 1\n const b = 2 }', 1, 1],
  ])('with values is refused, since erasure would drop it: %s', (source, line, column) => {
    const message = expect.stringContaining('namespace');
    expect(failureOf(typescript(source))).toMatchObject({ name: 'SyntaxError', message, line, column });
  });

  it.each([
    'namespace X { export interface A { const: 1; class(): void } type B = { enum: 1 } }',
    'declare namespace X { const a: number; function f(): void; class A {} }',
    "declare module 'x' { const a: 1; namespace Y { let b: 2 } }",
    'declare global { var x: number; namespace Y { const z: 1 } }',
    'export declare namespace X { enum E { A } }',
    'namespace X { declare const enum E { A } export declare abstract class C {} }',
    'namespace X { namespace Y { type Z = 1 } export import Q = Y.class; }',
    'let namespace = 1, module = { a: 1 }; namespace\nfoo\n{}\nvar foo; module.a = 1',
    'const s = `namespace X { const a = 1 }`; // namespace X { const a = 1 }\n/namespace X { const a/.test(s)',
    'interface namespace { module: string } class module { namespace = 1 }',
    'namespace Empty {}',
  ])('of types alone, or only declared, is legal: %s', (source) => {
    expect(failureOf(typescript(source))).toBeUndefined();
  });

  it('is a plain identifier in JavaScript', () => {
    expect(failureOf(javascript('var namespace, X; namespace\nX\n{ const a = 1 }'))).toBeUndefined();
  });
});

describe('import() and import.meta', () => {
  it('[runtime 13.2.4] are those of the internal module', async () => {
    const source = `export const url: string = import.meta.url;
      export default await import('./a', { with: { type: 'json' } } as any)`;
    const prepared = prepare(typescript(source));
    expect(prepared).toMatchObject({ usesMeta: true, usesLoad: true });
    const { ns } = await run(prepared.compose());
    expect(ns).toEqual({
      url: 'sandbox:<runCode>',
      default: { asked: './a', options: { with: { type: 'json' } } },
    });
  });

  it('are replaced without moving other code', () => {
    const source =
      "export const a = [import.meta.url, import /* c */ ('./b' + import('c')), import\n.\n meta . url, import /*c*/ . meta];\n";
    const text = prepare(javascript(source)).compose();
    const body = text.slice(0, source.length);
    expect(text[source.length]).toBe('\n');
    expect(body).not.toContain('import');
    // Everything that is no keyword, and every line break, keeps its position.
    expect(body.search(/\.url, /)).toBe(source.search(/\.url, /));
    expect(body.indexOf("/* c */ ('./b' + ")).toBe(source.indexOf("/* c */ ('./b' + "));
    expect(lineCount(body)).toBe(lineCount(source));
    expect(body.length).toBe(source.length);
  });

  it('work with any white space and comments in them', async () => {
    const source = `export default [import /*c*/ . /*d*/ meta, import // e
      .
      meta.url, (await import
      ('./x')).asked]`;
    const { ns } = await run(prepare(javascript(source)).compose());
    const meta = { url: 'sandbox:<runCode>' };
    expect(ns.default).toEqual([meta, meta.url, './x']);
  });

  it('are untouched in strings, templates, comments, regular expressions and member names', async () => {
    const source = `const o = { import: (x) => x, meta: 1 }; // import('x') import.meta
      export const texts = ["import('x')", \`import.meta \${o.import('y')}\`, /import\\('x'\\)/.source];
      class A { static import(x) { return x } import = 1 }
      export default [o.import('a'), A.import('b'), new A().import]`;
    const prepared = prepare(javascript(source));
    expect(prepared).toMatchObject({ usesMeta: false, usesLoad: false });
    const { ns } = await run(prepared.compose());
    expect(ns).toEqual({
      texts: ["import('x')", 'import.meta y', "import\\('x'\\)"],
      default: ['a', 'b', 1],
    });
  });

  it('get new names each time that are not in the source', () => {
    const source = 'export default [import.meta, import("x")]';
    const one = prepare(javascript(source)).compose();
    expect(one).not.toBe(prepare(javascript(source)).compose());
    const [, meta = '', load = ''] = /meta as (\S{11}),load as (\S{6})\}/.exec(one) ?? [];
    expect(source).not.toContain(meta);
    expect(source).not.toContain(load);
  });

  it.each([
    ["let a;\nimport.source('x')", 'import.source()', 2, 1],
    ["const a = import . defer ('x')", 'import.defer()', 1, 11],
    ["import source a from 'x'", 'import source', 1, 1],
    ["import/**/source/**/a/**/from'x'", 'import source', 1, 1],
    ["import source from from 'x'", 'import source', 1, 1],
    ["\n  import defer * as a from 'x'", 'import defer', 2, 3],
  ])('with a phase are refused in either language: %s', (source, form, line, column) => {
    const refused = {
      name: 'SyntaxError',
      message: `'${form}' is not supported in the sandbox.`,
      line,
      column,
    };
    expect(failureOf(javascript(source))).toMatchObject(refused);
    expect(failureOf(typescript(source))).toMatchObject(refused);
  });

  it.each(["import source from 'x'", "import defer, { a } from 'x'", "import { source } from 'x'"])(
    'with a binding named like a phase are valid: %s',
    (source) => {
      expect(failureOf(javascript(source))).toBeUndefined();
    },
  );

  it('accept no attribute but the type json', () => {
    const json =
      "import a from './a.json' with { type: 'json' }; export { b } from './b.json' with { type: 'json' }";
    expect(failureOf(javascript(json))).toBeUndefined();
    expect(
      failureOf(typescript("const x: number = 1; export * from './a' with { type: 'css' }")),
    ).toMatchObject({
      message: "The import attribute 'type: css' is not supported in the sandbox: only 'type: json' is.",
      line: 1,
      column: 47,
    });
  });

  it('are left to the engine if the source cannot be parsed', () => {
    const source = "import('./x'); import.meta; (";
    expect(prepare(javascript(source))).toMatchObject({ bare: source, usesMeta: false, usesLoad: false });
  });
});

describe('globals', () => {
  it('[runtime 13.1.3] are bindings of the module from its first line, and not of globalThis', async () => {
    const source =
      "export default [typeof foo, f(), 'foo' in globalThis, Object.keys(globalThis)];\nfunction f() { return bar }";
    const { ns } = await run(prepare(javascript(source), ['foo', 'bar']).compose(), [() => 1, 2]);
    expect(ns.default).toEqual(['function', 2, false, []]);
  });

  it('keep their numbers if one is omitted because the module declares it itself', async () => {
    const source = 'const foo = "own";\nexport default [foo, bar]';
    const prepared = prepare(javascript(source), ['foo', 'bar']);
    expect(() => new SourceTextModule(prepared.compose())).toThrow(
      "Identifier 'foo' has already been declared",
    );
    const { ns } = await run(prepared.compose(['bar']), [1, 2]);
    expect(ns.default).toEqual(['own', 2]);
  });

  it.each([
    '// a comment',
    'export default 1',
    'let a = 1',
    'let a = 1; a++',
    'export {}',
    '#!/usr/bin/env node',
  ])('are appended to a source that ends with: %s', async (end) => {
    await expect(run(prepare(javascript(end), ['foo']).compose(), [1])).resolves.toMatchObject({
      linked: [],
    });
  });

  it('leave a hashbang on the first line', () => {
    expect(prepare(typescript('#!/usr/bin/env node\nlet a: 1'), ['foo']).compose()).toMatch(/^#!.*\nlet a\n/);
  });

  it.each([
    'while (true)',
    'if (true)',
    'for (;;)',
    'if (a) {} else',
    'label:',
    'let a =',
    'export default',
    'class A {',
    'class A { static',
    '{',
    'f(',
    '`text',
    '"text',
    '"text\\',
    '/* text',
    '/re',
    '<!-- text',
    'let a = `${',
    'throw',
    'await',
    'a ? b :',
    'import { a } from',
    'export *',
    '@',
  ])('never complete an unfinished program, whose plain text reports: %s', (source) => {
    const prepared = prepare(javascript(source), ['foo', 'bar']);
    expect(() => new SourceTextModule(prepared.compose())).toThrow(SYNTAX_ERROR);
    expect(prepared.bare).toBe(source);
    expect(() => new SourceTextModule(prepared.bare)).toThrow(SYNTAX_ERROR);
  });
});

describe('a source that renames itself', () => {
  it('[runtime 13.2.4] keeps its name of the run', async () => {
    const source =
      'export default (() => { //# sourceURL=/etc/other\n return new Error("x").stack })()\n//# sourceURL=/etc/passwd';
    const { ns } = await run(prepare(javascript(source), ['foo']).compose(), [1]);
    expect(ns.default).toContain('sandbox:<runCode>:2:9');
    expect(ns.default).not.toContain('/etc');
  });
});

describe('a .json module', () => {
  const json = (source: string): SourceModule => ({ name: 'data.json', source, language: 'typescript' });

  it('exports its value by default, as JSON.parse would read it', async () => {
    const source = `{ "__proto__" : { "a": 1 }, "b": [{"\\u005f_proto__":2}, -0, 1e999, "__proto__", "\\"__proto__\\":", null],
      "c": "\u2028 \\\\", "constructor": "__proto__\\"" }`;
    const prepared = prepare(json(source), ['foo']);
    const { ns, linked } = await run(prepared.compose());
    const value = ns.default as Record<string, unknown>;
    expect(linked).toEqual([]);
    expect(JSON.stringify(value)).toBe(JSON.stringify(JSON.parse(source)));
    expect(Object.hasOwn(value, '__proto__')).toBe(true);
    expect(Object.is((value.b as unknown[])[1], -0)).toBe(true);
    expect((value.b as unknown[])[2]).toBe(Number.POSITIVE_INFINITY);
  });

  it.each([
    ['{\n  "a": 1,\n  b }', 3, 3],
    ['{"a":', 1, 6],
  ])('is refused if it is not JSON: %j', (source, line, column) => {
    expect(failureOf(json(source))).toMatchObject({
      name: 'SyntaxError',
      filename: 'data.json',
      line,
      column,
    });
  });

  it.each(['function f() {}', '1; alert()', 'class {}', ''])('runs no code: %j', (source) => {
    expect(isSourceError(failureOf(json(source)))).toBe(true);
  });
});

it('is warm before the first run', async () => {
  await expect(prepareTransform()).resolves.toBeUndefined();
});
