/** How much smaller a request is after a refusal for its length. */
import { describe, expect, it } from '@jest/globals';
import { shrink, shrinkAnswer } from '../../src/core/context/shrink.ts';

const size = 10_000;

describe('a refused request', () => {
  it.each([
    ['by the numbers of the refusal', { limit: 8000, requested: 16_000 }, 0, 0, 4750],
    [
      'by the numbers of both, without the answer',
      { limit: 9000, requested: 17_000, covers: 'both' },
      1000,
      0,
      4750,
    ],
    ['by half without numbers', {}, 0, 0, 5000],
    ['by half if the numbers say nothing', { limit: 8000, requested: 7000 }, 0, 0, 5000],
    ['by the estimate if only the limit is named', { limit: 5000 }, 0, 0, 4750],
    [
      'by a quarter at least the second time, whatever the numbers are',
      { limit: 8000, requested: 8100 },
      0,
      1,
      7500,
    ],
    ['by half the second time without numbers', {}, 0, 1, 5000],
    ['to a quarter the last time', { limit: 8000, requested: 8100 }, 0, 2, 2500],
  ] as const)('is shortened %s', (_, numbers, answer, before, left) => {
    expect(shrink({ unit: 'tokens', ...numbers }, { before, answer, size })).toBe(left);
  });

  it('reserves less for its answer, if that would fill most of the limit', () => {
    expect(shrinkAnswer({ unit: 'tokens', limit: 8000, covers: 'both' }, 8192)).toBe(2000);
    expect(shrinkAnswer({ unit: 'tokens', limit: 8000, covers: 'both' }, 1000)).toBe(1000);
    expect(shrinkAnswer({ unit: 'tokens', limit: 8000 }, 8192)).toBe(8192);
  });
});
