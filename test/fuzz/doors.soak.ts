/**
 * The long form: attacks for `EVERTHREAD_FUZZ_SECONDS` (default 1,200; 3,600 for an hour), with a fresh worker and seed
 * every five minutes; `EVERTHREAD_FUZZ_SEED` repeats one.
 */
import { describe, expect, it } from '@jest/globals';
import { assault } from './assault.ts';

const SECONDS = Number(process.env.EVERTHREAD_FUZZ_SECONDS || 1200);
const ROUND_SECONDS = 300;
const SEED = process.env.EVERTHREAD_FUZZ_SEED || String(Date.now());
const ROUNDS = Math.max(1, Math.round(SECONDS / ROUND_SECONDS));

describe(`${SECONDS} seconds of attacks at every input of one worker`, () => {
  it.each(Array.from({ length: ROUNDS }, (_, round) => `${SEED}-${round}`))(
    'fail no healthy thread, end no worker, and leave every thread able to end and replay (seed %s)',
    async (seed) => {
      const outcome = await assault({ seed, seconds: SECONDS / ROUNDS });
      process.stderr.write(`fuzz ${seed}: ${JSON.stringify(outcome)}\n`);
      expect(outcome.failures).toEqual([]);
      expect(outcome.stuck).toEqual([]);
      expect(outcome.diverged).toEqual([]);
      expect(outcome.survived).toBe(true);
    },
  );
});
