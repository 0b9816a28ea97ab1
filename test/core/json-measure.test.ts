/** Bytes and depth of a value's JSON, measured without building it. */
import { describe, expect, it } from '@jest/globals';
import { measureJson, showJson } from '../../src/core/value/json-measure.ts';
import { SEEDS, seededRandom } from '../support/seeded-random.ts';

type Random = ReturnType<typeof seededRandom>;

const LEAVES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -0,
  -1.5,
  1e300,
  1e21,
  5e-324,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  undefined,
  () => 1,
  Symbol('s'),
  new Date(0),
  '',
];

function randomText(random: Random): string {
  const units = Array.from({ length: random.below(12) }, () =>
    random.below(random.pick([0x30, 0x80, 0x800, 0x10000])),
  );
  return String.fromCharCode(...units);
}

function randomValue(random: Random, levels: number): unknown {
  const kind = random.below(levels > 0 ? 4 : 2);
  if (kind === 0) return random.pick(LEAVES);
  if (kind === 1) return randomText(random);
  const members = Array.from({ length: random.below(5) }, () => randomValue(random, levels - 1));
  if (kind === 2) return members;
  return Object.fromEntries(members.map((member) => [randomText(random), member]));
}

function nest(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { value };
  return value;
}

describe('the measure of a JSON value', () => {
  it.each(SEEDS)('is the length in bytes of what JSON.stringify writes (seed %i)', (seed) => {
    const random = seededRandom(seed);
    for (let round = 0; round < 300; round++) {
      const value = randomValue(random, 4);
      expect(measureJson(value).bytes).toBe(Buffer.byteLength(JSON.stringify(value) ?? ''));
    }
  });

  it('counts own properties with special names', () => {
    const value = JSON.parse('{"__proto__":{"a":1},"toJSON":2,"":[[]],"constructor":null}');
    expect(measureJson(value).bytes).toBe(JSON.stringify(value).length);
  });

  it('counts any number of levels without recursion', () => {
    for (const levels of [0, 1, 2, 1000, 500_000]) {
      expect(measureJson(nest(levels))).toMatchObject({ depth: levels, whole: true });
    }
  });

  it('stops at its limits of levels and bytes, also for an endless value', () => {
    expect(measureJson(nest(500_000), { maxDepth: 10 })).toMatchObject({ depth: 11, whole: false });
    const wide = Array.from({ length: 1000 }, () => 'x'.repeat(100));
    const { bytes, whole } = measureJson(wide, { maxBytes: 1000 });
    expect(whole).toBe(false);
    expect(bytes).toBeLessThan(1200);
    const endless: Record<string, unknown> = {};
    endless.self = endless;
    expect(measureJson(endless, { maxDepth: 100 }).depth).toBe(101);
    expect(measureJson(endless, { maxBytes: 1000 }).whole).toBe(false);
  });

  it('prints a small value in an error, and the size of a large one', () => {
    expect(showJson({ a: [1] })).toBe('{"a":[1]}');
    expect(showJson(undefined)).toBe('nothing');
    expect(showJson(nest(500_000))).toBe('a value too large to show');
    expect(showJson('x'.repeat(1000))).toBe('a value too large to show');
  });
});
