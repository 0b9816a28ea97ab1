/**
 * All input that strangers can send to a worker, at random, some dozens of times. `npm run test:soak -- fuzz` runs for
 * twenty minutes.
 */
import { describe, expect, it } from '@jest/globals';
import { assault } from './assault.ts';

const SEED = process.env.EVERTHREAD_FUZZ_SEED || '20261122';

const ATTACKS = 40;

describe(`${ATTACKS} attacks at every input of one worker`, () => {
  it(`fail no healthy thread, end no worker, and leave every thread able to end and replay (seed ${SEED})`, async () => {
    const outcome = await assault({ seed: SEED, attacks: ATTACKS });
    process.stderr.write(`fuzz ${SEED}: ${JSON.stringify(outcome)}\n`);
    expect(outcome.failures).toEqual([]);
    expect(outcome.stuck).toEqual([]);
    expect(outcome.diverged).toEqual([]);
    expect(outcome.survived).toBe(true);
    expect(outcome.attacks).toBe(ATTACKS);
    expect(outcome.providerAnswers).toBeGreaterThan(0);
    expect(outcome.turns).toBeGreaterThanOrEqual(20);
  });
});
