/**
 * Money: whole numbers of 10⁻¹² US dollars, because sums of decimal fractions are inexact. Pure.
 * M1. Inside, money is a bigint, and it is added only here or as a bigint; US dollars as numbers exist only where people and authors
 *     read or write them.
 * - No amount is above what a database holds in 64 bits, some nine million dollars: a larger one is that.
 */

/** 10⁻¹² US dollars. */
export type Pico = bigint;

const DECIMALS = 12;
const PER_USD = 10n ** BigInt(DECIMALS);
/** Prices are US dollars for this many tokens. */
export const TOKENS_PER_PRICE = 1_000_000n;
export const MAX_AMOUNT = 2n ** 63n - 1n;

/** Rounded to the nearest; a value that is not a finite number is 0. */
export function toPico(usd: number): Pico {
  if (!Number.isFinite(usd)) return usd > 0 ? MAX_AMOUNT : 0n;
  // From here on decimals are written with an exponent.
  if (Math.abs(usd) >= 1e15) return usd > 0 ? MAX_AMOUNT : -MAX_AMOUNT;
  return clampAmount(BigInt(usd.toFixed(DECIMALS).replace('.', '')));
}

/** The nearest number. */
export function toUsd(pico: Pico): number {
  const [sign, digits] = pico < 0n ? ['-', -pico] : ['', pico];
  return Number(`${sign}${digits / PER_USD}.${String(digits % PER_USD).padStart(DECIMALS, '0')}`);
}

/** M1: the sum of amounts of US dollars that were read as numbers. */
export function sumUsd(amounts: Iterable<number>): number {
  let sum = 0n;
  for (const amount of amounts) sum += toPico(amount);
  return toUsd(sum);
}

/** Tokens at a price in US dollars per 1,000,000 tokens. */
export type PricedTokens = readonly [tokens: number, price: number];

/** The cost of the tokens, rounded once, to the nearest. */
export function costOfTokens(parts: readonly PricedTokens[]): Pico {
  const millionths = parts.reduce(
    (sum, [tokens, price]) => sum + BigInt(Math.round(tokens)) * toPico(price),
    0n,
  );
  return clampAmount((millionths + TOKENS_PER_PRICE / 2n) / TOKENS_PER_PRICE);
}

/** What 64 bits hold. */
export function clampAmount(amount: bigint): bigint {
  if (amount > MAX_AMOUNT) return MAX_AMOUNT;
  return amount < -MAX_AMOUNT ? -MAX_AMOUNT : amount;
}
