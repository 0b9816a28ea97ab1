/** Everything that strangers can say to a worker, at random, for a short while. `npm run test:soak -- fuzz` goes on for twenty minutes. */
import { describe, expect, it } from '@jest/globals';
import { assault } from './assault.ts';

const SEED = process.env.EVERTHREAD_FUZZ_SEED || '20261122';

describe('thirty seconds of attacks at every door of one worker', () => {
  it(`fail no healthy thread, end no worker, and leave every thread fit to end and to be replayed (seed ${SEED})`, async () => {
    const outcome = await assault({ seed: SEED, seconds: 30 });
    process.stderr.write(`fuzz ${SEED}: ${JSON.stringify(outcome)}\n`);
    expect(outcome.failures).toEqual([]);
    expect(outcome.stuck).toEqual([]);
    expect(outcome.diverged).toEqual([]);
    expect(outcome.survived).toBe(true);
    expect(outcome.attacks).toBeGreaterThan(10);
    expect(outcome.turns).toBeGreaterThanOrEqual(20);
  });
});
