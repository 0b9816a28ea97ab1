/** core/value/money.ts: US dollars as whole numbers of 10⁻¹². */
import { describe, expect, it } from '@jest/globals';
import { costOfTokens, MAX_AMOUNT, sumUsd, toPico, toUsd } from '../../src/core/value/money.ts';

describe('[PL-17] money', () => {
  it.each<[number, bigint]>([
    [0.1, 100_000_000_000n],
    [1e-12, 1n],
    [4e-13, 0n],
    [-0.25, -250_000_000_000n],
    [1e300, MAX_AMOUNT],
    [Number.POSITIVE_INFINITY, MAX_AMOUNT],
    [Number.NaN, 0n],
  ])('%p dollars are %p whole units', (usd, pico) => {
    expect(toPico(usd)).toBe(pico);
  });

  it('converts to a number and back without loss', () => {
    for (const usd of [0, 0.1, 0.8, 1 / 3, 123.456789, 1e-9, 999_999.999999])
      expect(toUsd(toPico(usd))).toBe(Number(usd.toFixed(12)));
  });

  it('adds up without rounding errors', () => {
    expect(sumUsd(Array.from({ length: 8 }, () => 0.1))).toBe(0.8);
    expect(sumUsd([0.1, 0.2, -0.3])).toBe(0);
  });

  it('rounds the cost of tokens once', () => {
    expect(costOfTokens([[1, 0.0000001]])).toBe(0n);
    expect(
      costOfTokens([
        [1, 0.0000004],
        [1, 0.0000001],
      ]),
    ).toBe(1n);
  });
});
