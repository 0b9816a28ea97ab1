/** Random frames from a compromised child of the sandbox to its host. `npm run test:soak -- frames` runs longer. */
import { describe, expect, it } from '@jest/globals';
import { assaultByFrames } from './frame-assault.ts';

const SEED = process.env.EVERTHREAD_FUZZ_SEED || '20261122';
const ROUNDS = 25;

describe(`${ROUNDS} children that send random frames`, () => {
  it(`end their own runs only (seed ${SEED})`, async () => {
    expect(await assaultByFrames(SEED, ROUNDS)).toEqual([]);
  });
});
