/** The long form: `EVERTHREAD_FUZZ_FRAMES` children (default 1,000); `EVERTHREAD_FUZZ_SEED` repeats one run. */
import { describe, expect, it } from '@jest/globals';
import { assaultByFrames } from './frame-assault.ts';

const SEED = process.env.EVERTHREAD_FUZZ_SEED || String(Date.now());
const ROUNDS = Number(process.env.EVERTHREAD_FUZZ_FRAMES || 1000);

describe(`${ROUNDS} children that send random frames`, () => {
  it(`end their own runs only (seed ${SEED})`, async () => {
    expect(await assaultByFrames(SEED, ROUNDS)).toEqual([]);
  });
});
