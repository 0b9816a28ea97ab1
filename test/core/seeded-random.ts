/** Random walks that can be walked again: the seed is in the test's title, one more comes from EVERTHREAD_TEST_SEED. */

export interface Random {
  /** 0 ≤ n < bound. */
  below(bound: number): number;
  chance(probability: number): boolean;
  pick<T>(values: readonly T[]): T;
}

/** mulberry32: 32 bits of state are plenty for a walk of some hundred steps. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (bound: number): number => Math.floor(next() * bound);
  return {
    below,
    chance: (probability) => next() < probability,
    pick: (values) => values[below(values.length)] as (typeof values)[number],
  };
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
