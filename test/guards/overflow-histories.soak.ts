/** The long form of `overflow-histories.test.ts`: 10,000 histories. */
import { describe, expect, it } from '@jest/globals';
import { playHistory } from '../support/overflow-history.ts';

const PARTS = 20;
const HISTORIES = 500;

describe('10,000 random histories', () => {
  it.each(Array.from({ length: PARTS }, (_, part) => part))(
    'are answered at any token ratio, part %i',
    async (part) => {
      const problems: string[] = [];
      for (let index = 0; index < HISTORIES; index += 1)
        problems.push(...(await playHistory(`soak ${part}/${index}`)));
      expect(problems).toEqual([]);
    },
  );
});
