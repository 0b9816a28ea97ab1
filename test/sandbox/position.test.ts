/** Positions of errors. The stacks and messages here are what isolated-vm 7.0.1 on Node 24.21 wrote. */
import { describe, expect, it } from '@jest/globals';
import {
  cleanStack,
  createPositionMapper,
  locate,
  locateImport,
  locateMissingExport,
  splitCompileMessage,
} from '../../src/sandbox/child/failure.ts';
import { prepareModule, type SourceModule } from '../../src/sandbox/child/transform.ts';
import { SANDBOX_LIMITS } from '../../src/sandbox/limits.ts';

const RUN = '<runCode>';
const AWKWARD = 'we (ird): x:1:2.ts';
const BOUNDARY = '\n    at (<isolated-vm boundary>)\n    at run (file:///home/me/code/fmt.mjs:12:17)';

const source = (
  text: string,
  name = RUN,
  language: SourceModule['language'] = 'typescript',
): SourceModule => ({
  name,
  source: text,
  language,
});

describe('locate', () => {
  it.each([
    ['a function', 'Error: boom\n    at foo (sandbox:<runCode>:2:9)\n    at sandbox:<runCode>:4:1', 2, 9],
    ['the module itself', 'Error: boom\n    at sandbox:<runCode>:4:1', 4, 1],
    ['code behind an await', 'Error: x\n    at async f (sandbox:<runCode>:3:5)', 3, 5],
    ['a module behind an await', 'Error: x\n    at async sandbox:<runCode>:2:1', 2, 1],
    ['a native function', 'Error: x\n    at Array.map (<anonymous>)\n    at sandbox:<runCode>:1:5', 1, 5],
    ['our own code', 'Error: x\n    at call (sandbox:internal:1:62)\n    at sandbox:<runCode>:7:5', 7, 5],
    ['the host', 'Error: x\n    at file:///home/me/a.mjs:60:99\n    at sandbox:<runCode>:7:5', 7, 5],
  ])('finds the first location of the caller in the stack of %s', (_where, stack, line, column) => {
    expect(locate(stack, [RUN])).toEqual({ filename: RUN, line, column });
  });

  it('finds a name with any characters, and the longer of two with the same suffix', () => {
    const stack = `Error: x\n    at a b (c:1:2) (sandbox:${AWKWARD}:2:9)`;
    expect(locate(stack, ['x:1:2.ts', AWKWARD, RUN])).toEqual({ filename: AWKWARD, line: 2, column: 9 });
    expect(locate('Error\n    at sandbox:a sandbox:b:1:2', ['b', 'a sandbox:b'])).toMatchObject({
      filename: 'a sandbox:b',
    });
  });

  it('ignores a message that looks like stack frames', () => {
    const message = 'x\n    at evil (sandbox:<runCode>:9:9)';
    const stack = `TypeError: ${message}\n    at get b (sandbox:<runCode>:1:34)`;
    expect(locate(stack, [RUN], message)).toEqual({ filename: RUN, line: 1, column: 34 });
    // isolated-vm writes such lines twice when the error leaves the isolate.
    const twice = `TypeError: ${message}\n    at evil (sandbox:<runCode>:9:9)\n    at get b (sandbox:<runCode>:1:34)`;
    expect(locate(twice, [RUN], message)).toEqual({ filename: RUN, line: 1, column: 34 });
  });

  it.each(['', 'Error: x', 'a|b', 'Error: x\n    at f (/etc/passwd:1:1)', `Error: x${BOUNDARY}`])(
    'finds nothing in %j',
    (stack) => {
      expect(locate(stack, [RUN])).toEqual({});
    },
  );
});

describe('cleanStack', () => {
  it('keeps only frames of the caller and the language', () => {
    const stack = `TypeError: no\n    at cb (sandbox:<runCode>:1:30)\n    at Array.map (<anonymous>)
    at Object.apply (sandbox:internal:1:62)\n    at eval (eval at <anonymous> (sandbox:<runCode>:1:12), <anonymous>:3:6)
    at async Promise.all (index 0)\n    at new Promise (<anonymous>)\n    at eval (/etc/passwd:1:6)\n    at <isolated-vm>:1:8
    at /home/me/app.js:1:1\nno frame\n    at async sandbox:./lib.ts:2:1${BOUNDARY}`;
    expect(cleanStack(stack, [RUN, './lib.ts'])).toBe(
      `TypeError: no\n    at cb (sandbox:<runCode>:1:30)\n    at Array.map (<anonymous>)
    at async Promise.all (index 0)\n    at new Promise (<anonymous>)\n    at async sandbox:./lib.ts:2:1`,
    );
  });

  it('shows positions in the caller’s text', () => {
    const stack = 'Error: x\n    at f (sandbox:<runCode>:2:9)\n    at async sandbox:<runCode>:3:1';
    const map = (_name: string, line: number, column: number) => ({ line: line + 10, column: column + 100 });
    expect(cleanStack(stack, [RUN], map)).toBe(
      'Error: x\n    at f (sandbox:<runCode>:12:109)\n    at async sandbox:<runCode>:13:101',
    );
  });

  it('keeps a multi-line message if it is given', () => {
    const message = 'multi\nline\n    at fake (/etc/passwd:1:1)';
    const stack = `Error: ${message}\n    at f (sandbox:<runCode>:1:2)\n    at g (/etc/passwd:1:1)`;
    expect(cleanStack(stack, [RUN], undefined, message)).toBe(
      `Error: ${message}\n    at f (sandbox:<runCode>:1:2)`,
    );
  });

  it('is the first line if there is no stack', () => {
    expect(cleanStack(`mine|/etc/passwd:1:1\nsecond${BOUNDARY}`, [RUN])).toBe('mine|/etc/passwd:1:1\nsecond');
    expect(cleanStack('first\nsecond', [RUN])).toBe('first');
  });

  it('is limited in length and time', () => {
    const stack = `Error: x\n${'    at f (sandbox:<runCode>:1:2)\n'.repeat(200_000)}`;
    expect(cleanStack(stack, [RUN]).length).toBe(SANDBOX_LIMITS.errorStackLength);
    expect(cleanStack('x'.repeat(1_000_000), [RUN]).length).toBe(SANDBOX_LIMITS.errorStackLength);
  });
});

describe('splitCompileMessage', () => {
  it.each([
    [`Unexpected token ';' [sandbox:<runCode>:2:11]`, RUN, "Unexpected token ';'", 2, 11],
    [`Unexpected token ';' [sandbox:${AWKWARD}:2:11]`, AWKWARD, "Unexpected token ';'", 2, 11],
    [
      "Unexpected token ';' [sandbox:a [sandbox:b:1:2]:2:11]",
      'a [sandbox:b:1:2]',
      "Unexpected token ';'",
      2,
      11,
    ],
    ["Unexpected token ';' [/etc/passwd:1:9]", undefined, "Unexpected token ';'", 1, 9],
    [
      'Maximum call stack size exceeded [<isolated-vm>:0:0]',
      undefined,
      'Maximum call stack size exceeded',
      undefined,
      undefined,
    ],
    [
      "The requested module './dep' does not provide an export named 'b'",
      undefined,
      "The requested module './dep' does not provide an export named 'b'",
      undefined,
      undefined,
    ],
  ])('reads %s', (text, filename, message, line, column) => {
    const names = ['b', RUN, AWKWARD, 'a [sandbox:b:1:2]'];
    const { message: said, ...place } = splitCompileMessage(text, names);
    expect({ said, ...{ filename: undefined, line: undefined, column: undefined }, ...place }).toEqual({
      said: message,
      filename,
      line,
      column,
    });
  });
});

describe('the position mapper', () => {
  /** The author's position of `needle`, mapped from its position in the erased text. */
  function mapped(module: SourceModule, needle: string): { line: number; column: number } {
    const { bare } = prepareModule(module, { specifier: 'inner', globals: [] });
    const offset = bare.indexOf(needle);
    const before = bare.slice(0, offset).split('\n');
    const map = createPositionMapper(new Map([[module.name, module]]));
    return map(module.name, before.length, (before.at(-1) as string).length + 1);
  }

  it.each([
    'const a: number = fail();',
    'const a: Map<string, number> = new Map<string, number>(); fail();',
    'function f<T extends object>(a?: T, ...b: readonly T[]): asserts a is T { return fail(); }',
    'type A = 1;\ninterface B {}\nclass C<T> implements B { private readonly x?: T = fail() as T; }',
    'enum E { A = 1, B }\n  const é: "😀" = "😀" as const; fail();',
    'import type { A } from "a"; import { b, type C } from "c"; b as C; fail();',
    `const t: string = \`\${1 as number}\`; const u: 1 = 1; fail();`,
    'class A { constructor(private x: number, y?: string) { fail(); } }',
    'enum E { A = (fail() as number), B }',
    `const f = <T,>(x: T) => \`a\${x as string}b\` satisfies string; let v: typeof f = fail()!;`,
    'export default (x: unknown) =>\r\n  (<any>x)!.y satisfies 1 && fail();',
  ])('maps to the author’s column: %s', (text) => {
    const before = text.slice(0, text.indexOf('fail()')).split('\n');
    expect(mapped(source(text), 'fail()')).toEqual({
      line: before.length,
      column: (before.at(-1) as string).length + 1,
    });
  });

  it('stays within the line for generated code', () => {
    const text = 'enum E { A }';
    expect(mapped(source(text), '(E = {})').column).toBeLessThanOrEqual(text.length + 1);
  });

  it.each([
    source('let a = 1', RUN, 'javascript'),
    source('{"a": 1}', 'data.json'),
    source('let a: = 1', 'broken.ts'),
  ])('is the identity if nothing was erased: $name', (module) => {
    const map = createPositionMapper(new Map([[module.name, module]]));
    expect(map(module.name, 1, 7)).toEqual({ line: 1, column: 7 });
    expect(map('unknown', 3, 4)).toEqual({ line: 3, column: 4 });
  });

  it('ignores lines that the source does not have', () => {
    const map = createPositionMapper(new Map([[RUN, source('let a: number = 1')]]));
    expect(map(RUN, 9, 14)).toEqual({ line: 9, column: 14 });
  });
});

describe('the location of an import', () => {
  const module = source(
    "import type { T } from './t';\nimport fs from 'fs';\nimport def, {\n  a as b,\n  cc,\n} from './lib';\nexport { d } from './lib';\nexport * from './s'",
  );

  it('[runtime 13.9.14] is that of its specifier, used or not', () => {
    expect(locateImport(module, 'fs')).toEqual({ line: 2, column: 16 });
    expect(locateImport(module, './lib')).toEqual({ line: 6, column: 8 });
    expect(locateImport(module, './s')).toEqual({ line: 8, column: 15 });
    expect(locateImport(module, './t')).toBeUndefined();
    expect(locateImport(source('import ('), './t')).toBeUndefined();
  });

  it.each([
    ['a', 4, 3],
    ['cc', 5, 3],
    ['d', 7, 10],
    ['default', 3, 8],
  ])('[runtime 13.9.14] is that of the missing name %s', (name, line, column) => {
    const message = `The requested module './lib' does not provide an export named '${name}'`;
    expect(locateMissingExport(message, [source('import "./lib"', 'other.ts'), module])).toEqual({
      filename: RUN,
      specifier: './lib',
      line,
      column,
    });
  });

  it('exists for conflicting star exports too', () => {
    const message = "The requested module './lib' contains conflicting star exports for name 'cc'";
    expect(locateMissingExport(message, [module])).toMatchObject({ line: 5, column: 3 });
    expect(locateMissingExport('Cannot read properties of null', [module])).toBeUndefined();
  });
});
