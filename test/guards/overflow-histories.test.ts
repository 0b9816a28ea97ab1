/** Random histories against models that count in their own way: no message fails for its length. The long form is `overflow-histories.soak.ts`. */
import { describe, expect, it } from '@jest/globals';
import { playHistory } from '../support/overflow-history.ts';
import { SEEDS } from '../support/seeded-random.ts';

/** Histories of each seed. */
const HISTORIES = 40;

describe('a random history', () => {
  it.each(SEEDS)('is answered at any token ratio, in %i', async (seed) => {
    const problems: string[] = [];
    for (let index = 0; index < HISTORIES; index += 1)
      problems.push(...(await playHistory(`${seed}/${index}`)));
    expect(problems).toEqual([]);
  });

  it.each(['soak 7/89', 'soak 9/480'])(
    'starts with a user message after a summary of answers without their question, in %s',
    async (seed) => {
      expect(await playHistory(seed)).toEqual([]);
    },
  );
});
