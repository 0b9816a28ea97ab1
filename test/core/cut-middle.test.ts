/** Texts that are cut in their middle. */
import { describe, expect, it } from '@jest/globals';
import { cutMiddle } from '../../src/core/value/cut-middle.ts';

describe('a text truncated in the middle', () => {
  it('is unchanged if it fits', () => {
    expect(cutMiddle('abc', 3)).toBe('abc');
  });

  it('keeps its start and end, and states how much is omitted', () => {
    const cut = cutMiddle('a'.repeat(60) + 'z'.repeat(30), 42, (omitted) => `(${omitted})`);
    expect(cut).toBe(`${'a'.repeat(26)}(52)${'z'.repeat(12)}`);
  });

  it.each(Array.from({ length: 20 }, (_, index) => index))(
    'keeps surrogate pairs intact at length %i',
    (most) => {
      const cut = cutMiddle('😀'.repeat(40), most, () => '|');
      expect(cut.isWellFormed()).toBe(true);
      expect(cut.length).toBeLessThanOrEqual(Math.max(most, 1));
    },
  );
});
