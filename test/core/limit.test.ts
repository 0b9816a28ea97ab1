/** Lengths in UTF-8, counted without the platform's encoder. */
import { describe, expect, it } from '@jest/globals';
import { utf8Length } from '../../src/core/value/limit.ts';
import { SEEDS, seededRandom } from '../support/seeded-random.ts';

describe('UTF-8 lengths', () => {
  it.each([
    ['', 0],
    ['plain', 5],
    ['é', 2],
    ['€', 3],
    ['😀', 4],
    ['a😀€é', 10],
    ['\ud83d', 3],
    ['\ude00', 3],
    ['\ud83d\u4e00', 6],
    ['\ud83d\ud83d\ude00', 7],
  ])('count %j as %i bytes', (text, bytes) => {
    expect(utf8Length(text)).toBe(bytes);
  });

  it.each(SEEDS)('agree with the platform on random text (seed %i)', (seed) => {
    const random = seededRandom(seed);
    for (let round = 0; round < 200; round++) {
      const units = Array.from({ length: random.below(40) }, () =>
        random.below(random.pick([0x80, 0x800, 0x10000])),
      );
      const text = String.fromCharCode(...units);
      expect(utf8Length(text)).toBe(new TextEncoder().encode(text).length);
    }
  });
});
