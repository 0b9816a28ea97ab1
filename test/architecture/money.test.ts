/** Money is added as whole numbers (core/value/money.ts, M1): sums of decimal fractions are inexact, and their errors pass limits. */
import { expect, it } from '@jest/globals';
import { readSources } from './source-tree.ts';

/** `+=`, `-=`, and sums with a name that ends as amounts of US dollars do, such as `costUsd` or `spent`. */
const SUM =
  /\b\w*(?:[cC]ost|[uU]sd|[sS]pent)\b\s*(?:[-+]=|[-+] )|(?:[-+]=|[)\w\]] [-+])\s*(?:\w+\??\.)*\w*(?:[cC]ost|[uU]sd|[sS]pent)\b/;

/** Costs that are no money. */
const NO_MONEY = ['sandbox/'];

it('no source adds amounts of money as numbers', () => {
  const found = readSources()
    .filter(({ path }) => !NO_MONEY.some((folder) => path.startsWith(folder)))
    .flatMap(({ path, code }) =>
      code
        .split('\n')
        .flatMap((line) =>
          SUM.test(line) && !/Pico|clampAmount/.test(line) ? [`${path}: ${line.trim()}`] : [],
        ),
    );
  expect(found).toEqual([]);
});
