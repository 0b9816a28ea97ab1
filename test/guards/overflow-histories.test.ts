/** Random histories against models that count in their own way: no message fails for its length. The long form is `overflow-histories.soak.ts`. */
import { describe, expect, it } from '@jest/globals';
import { playHistory } from '../support/overflow-history.ts';
import { SEEDS } from '../support/seeded-random.ts';

/** Histories of each seed. */
const HISTORIES = 40;

describe('a history of any scripts and sizes', () => {
  it.each(SEEDS)('is answered whatever the model counts, in %i', async (seed) => {
    const problems: string[] = [];
    for (let index = 0; index < HISTORIES; index += 1)
      problems.push(...(await playHistory(`${seed}/${index}`)));
    expect(problems).toEqual([]);
  });

  it.each(['soak 7/89', 'soak 9/480'])(
    'begins with a user message after a summary of answers whose question was not read, in %s',
    async (seed) => {
      expect(await playHistory(seed)).toEqual([]);
    },
  );
});
