/**
 * Repeatable randomness: the same seed gives the same walk or attack, so that what it finds can be kept as a test. The
 * seed is in the test's title; EVERTHREAD_TEST_SEED adds another one.
 */

export interface Random {
  /** A number x with 0 ≤ x < 1. */
  next(): number;
  /** An integer n with 0 ≤ n < bound. */
  below(bound: number): number;
  chance(probability: number): boolean;
  pick<T>(values: readonly T[]): T;
  /** A separate stream for the named part: what one part draws does not change what another draws. */
  split(part: string | number): Random;
}

/** mulberry32: 32 bits of state are plenty for what tests draw. */
export function seededRandom(seed: number | string): Random {
  let state = typeof seed === 'number' ? seed >>> 0 : hash(seed);
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (bound: number): number => Math.floor(next() * bound);
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick: (values) => values[below(values.length)] as (typeof values)[number],
    split: (part) => seededRandom(`${seed}/${part}`),
  };
}

/** FNV-1a */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++)
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  return value >>> 0;
}

const extra = Number(process.env.EVERTHREAD_TEST_SEED ?? Number.NaN);

export const SEEDS: readonly number[] = [
  1,
  2,
  3,
  5,
  8,
  13,
  21,
  34,
  ...(Number.isInteger(extra) ? [extra] : []),
];
