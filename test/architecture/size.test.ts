/** The sources do not grow unnoticed: `npm run count -- --write` accepts what a change adds, which its commit explains. */
import { expect, it } from '@jest/globals';
import {
  listCircles,
  listForwarders,
  listNamesTwice,
  listRises,
  measureSize,
  readSize,
  type Size,
} from './size.ts';
import { readSource } from './source-tree.ts';

it('no figure of the sources rises above size.json', () => {
  expect(listRises(measureSize(), readSize())).toEqual([]);
});

it('the figures are tokens, importers, forwarders, circles, and duplicate names', () => {
  const sources = [
    readSource(
      'a/one.ts',
      "/** One. */\nimport type { B } from './two.ts';\nexport interface A { b: B; text: 'a string' }\n",
    ),
    readSource('a/two.ts', "import type { A } from './one.ts';\nexport type B = A | `piece`;\n"),
    readSource('a/door.ts', "export { A } from './one.ts';\n"),
    readSource(
      'b/call.ts',
      "import { f } from './f.ts';\nexport function g(x: string): string {\n  return f(x);\n}\n",
    ),
    readSource('b/f.ts', 'export function f(x: string): string {\n  return x;\n}\nexport type A = 1;\n'),
  ];
  const { tokens, files, singleImporters, filesInCircles, types } = measureSize(sources);
  expect({ tokens, files, singleImporters, filesInCircles, types }).toEqual({
    tokens: { a: 43, b: 46 },
    files: { a: 3, b: 2 },
    singleImporters: 2,
    filesInCircles: 2,
    types: 3,
  });
  expect(listForwarders(sources)).toEqual(['a/door.ts', 'b/call.ts: export function g']);
  expect(listCircles(sources)).toEqual([['a/one.ts', 'a/two.ts']]);
  expect(listNamesTwice(sources)).toEqual(['A']);
});

it('a figure that rises is reported with its limit', () => {
  const before = { tokens: { core: 10 }, files: { core: 1 }, types: 2 } as unknown as Size;
  const now = { tokens: { core: 11, new: 1 }, files: { core: 1 }, types: 1 } as unknown as Size;
  expect(listRises(now, before)).toEqual(['tokens of core: 11, above 10', 'tokens of new: 1, above 0']);
});
