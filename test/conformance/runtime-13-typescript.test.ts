/** runtime §13.6: types are erased without being checked. */
import { describe, expect, it } from '@jest/globals';
import { failureOf, resultOf } from '../support/sandbox.ts';

describe('runtime §13.6 TypeScript Erasure', () => {
  it('[runtime 13.6.1] erases types by default, in modules too', async () => {
    const source = `
      import type { Missing } from 'never-given';
      import { type Order, total } from './orders';
      declare const ambient: string;
      interface Shape<T extends object = {}> { readonly a?: T }
      type Pair = [first: number, second?: string];
      export default function main(this: void, orders: Order[], rate?: number): Pair {
        const shape = { a: {} } satisfies Shape;
        return [total(orders)! * (rate as number), (<string>typeof shape)];
      }`;
    const modules = {
      './orders.ts': `
        export type Order = { count: number };
        export const total = <T extends Order>(orders: readonly T[]): number => orders.reduce((sum, { count }) => sum + count, 0);`,
    };
    const execute = { args: [[{ count: 2 }, { count: 3 }], 10] };
    expect(await resultOf(source, { modules, execute })).toEqual([50, 'object']);
    expect(await resultOf(source, { modules, execute, language: 'typescript' })).toEqual([50, 'object']);
  });

  it('[runtime 13.6.1] leaves JavaScript unchanged, where types are a syntax error', async () => {
    const source = 'let n: number = 1; export default n;';
    expect(await failureOf(source, { language: 'javascript' })).toMatchObject({
      status: 'link_error',
      name: 'SyntaxError',
      line: 1,
      column: 6,
    });
    // A comparison in JavaScript, a call with a type argument in TypeScript.
    const generic = 'const f = (x) => x, a = 1; export default [f < a > (2)]';
    expect(await resultOf(generic, { language: 'javascript' })).toEqual([false]);
    expect(await resultOf(generic)).toEqual([2]);
  });

  it('[runtime 13.6.2] erases with a dedicated tool: constructs with a run-time meaning keep it', async () => {
    const source = `
      enum Level { Low, High = 5, Next, Named = 'named' }
      const enum Fixed { One = 1 }
      abstract class Account<T> {
        static made: number = 0;
        #balance: number = 1;
        declare hidden: string;
        constructor(public readonly owner: string, private rate = 2) { Account.made++; }
        abstract kind(): T;
        get worth(): number { return this.#balance * this.rate; }
      }
      class Savings extends Account<string> { override kind() { return 'savings' as const; } }
      const one = new Savings('me');
      export default [Level.High, Level[6], Level.Named, Fixed.One, one.owner, one.worth, one.kind(), Account.made, 'hidden' in one];`;
    expect(await resultOf(source)).toEqual([5, 'Next', 'named', 1, 'me', 2, 'savings', 1, false]);
  });

  it('[runtime 13.6.2] refuses syntax that erasure cannot express at its location', async () => {
    const failure = await failureOf('export default 1;\nnamespace Values { export const a = 1 }');
    expect(failure).toMatchObject({ status: 'link_error', name: 'SyntaxError', line: 2, column: 1 });
    expect(failure.message).toContain('namespace');
  });

  it.each([
    ['a wrong type', "const n: number = 'a text'; export default n;", 'a text'],
    ['an undeclared type', 'const n: Nowhere.At.All<1> = 2; export default n;', 2],
    ['an argument too many', 'const f = (): number => 3; export default f(1, 2);', 3],
    ['a property that is not there', 'interface A { a: 1 } const a: A = { b: 4 }; export default a.b;', 4],
    ['an unused type import of what was never given', "import type A from 'nowhere'; export default 5;", 5],
    ['a null where none may be', 'const a: string = null; export default a;', null],
  ])('[runtime 13.6.3] checks no types: runs with %s', async (_, source, result) => {
    expect(await resultOf(source)).toBe(result);
  });
});
