/** Which calls of an answer may be under way at once: marks, groups, and what runs beside what, for random answers. */
import { describe, expect, it } from '@jest/globals';
import { endOfGroup, markParallel, runBeside } from '../../src/core/thread/call-group.ts';
import { LIMITS } from '../../src/core/value/limit.ts';
import { type Random, SEEDS, seededRandom } from '../support/seeded-random.ts';

const toCalls = (marks: readonly number[], count: number) =>
  Array.from({ length: count }, (_, index) => (marks.includes(index) ? ({ parallel: true } as const) : {}));

/** The groups of an answer, from the first call to the last, as those who run it find them. */
function groupsOf(mayRunBeside: readonly boolean[]): (readonly [number, number])[] {
  const calls = toCalls(markParallel(mayRunBeside), mayRunBeside.length);
  const groups: (readonly [number, number])[] = [];
  for (let from = 0; from < calls.length; from = groups.at(-1)?.[1] ?? 0)
    groups.push([from, endOfGroup(calls, from)]);
  return groups;
}

describe('groups of calls', () => {
  it.each(SEEDS)(
    'cover each call once, in order, and hold only neighbours that all say parallel (seed %d)',
    (seed) => {
      const random = seededRandom(seed);
      for (let round = 0; round < 200; round++) {
        const may = Array.from({ length: random.below(24) }, () => random.chance(0.6));
        const groups = groupsOf(may);
        expect(groups.map(([from]) => from)).toEqual(
          [0, ...groups.map(([, to]) => to)].slice(0, groups.length),
        );
        if (may.length > 0) expect(groups.at(-1)?.[1]).toBe(may.length);
        for (const [from, to] of groups.filter(([first, end]) => end > first + 1)) {
          expect(may.slice(from, to).every(Boolean)).toBe(true);
          // As large as it can be: nothing that could join it stands beside it, among the calls that are named.
          expect(from > 0 && may[from - 1]).toBe(false);
          expect(to < Math.min(may.length, LIMITS.namedCalls) && may[to]).toBe(false);
        }
        for (const [from, to] of groups.filter(([first, end]) => end === first + 1)) {
          const beside = [may[from - 1], may[to]].some(Boolean) && may[from] && to < LIMITS.namedCalls;
          expect(Boolean(beside)).toBe(false);
        }
      }
    },
  );

  it('an answer of which no call says parallel has no marks, and neither has a call that stands alone', () => {
    expect(markParallel([false, false, false])).toEqual([]);
    expect(markParallel([true, false, true])).toEqual([]);
    expect(markParallel([false, true, true])).toEqual([1, 2]);
  });

  it('a part of a group that is left is a group as long as it has two calls', () => {
    const calls = toCalls([0, 1, 2], 4);
    expect([0, 1, 2, 3].map((index) => endOfGroup(calls, index))).toEqual([3, 3, 3, 4]);
  });
});

interface Walk {
  readonly begun: number[];
  readonly most: number;
  readonly outcomes: readonly string[] | string;
}

/** Runs a group whose calls end in a random order; `ends` and `throws` are the indices whose outcome does. */
async function walk(
  random: Random,
  range: { from: number; to: number },
  { ends = -1, throws = -1 }: { ends?: number; throws?: number } = {},
): Promise<Walk> {
  const begun: number[] = [];
  const open = new Map<number, PromiseWithResolvers<string>>();
  let most = 0;
  const run = (index: number) => {
    begun.push(index);
    const call = Promise.withResolvers<string>();
    open.set(index, call);
    most = Math.max(most, open.size);
    return call.promise;
  };
  let over = false;
  const group = runBeside(range, run, (outcome) => outcome === 'ends')
    .catch((error: Error) => error.message)
    .finally(() => {
      over = true;
    });
  while (!over) {
    const [index, call] = random.pick([...open]) ?? [];
    if (index !== undefined && call) {
      open.delete(index);
      if (index === throws) call.reject(new Error(`${index} threw`));
      else call.resolve(index === ends ? 'ends' : `${index}`);
    }
    // Until all that follows from it has happened.
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(open.size).toBe(0);
  return { begun, most, outcomes: await group };
}

describe('calls beside each other', () => {
  it.each(SEEDS)(
    'begin in order, at most 8 at once, and return their outcomes in order (seed %d)',
    async (seed) => {
      const random = seededRandom(seed);
      for (let round = 0; round < 20; round++) {
        const from = random.below(4);
        const to = from + 2 + random.below(14);
        const { begun, most, outcomes } = await walk(random, { from, to });
        const all = Array.from({ length: to - from }, (_, n) => from + n);
        expect(begun).toEqual(all);
        expect(most).toBe(Math.min(all.length, LIMITS.parallelCalls));
        expect(outcomes).toEqual(all.map(String));
      }
    },
  );

  it.each(SEEDS)(
    'none begins after one that ends the answer or has thrown, and none is left under way (seed %d)',
    async (seed) => {
      const random = seededRandom(seed);
      for (let round = 0; round < 20; round++) {
        const to = 10 + random.below(6);
        const ends = random.below(to);
        const ended = await walk(random, { from: 0, to }, { ends });
        expect(ended.outcomes).toHaveLength(ended.begun.length);
        expect(ended.outcomes[ends]).toBe('ends');
        const thrown = await walk(random, { from: 0, to }, { throws: ends });
        expect(thrown.outcomes).toBe(`${ends} threw`);
        expect(Math.max(...thrown.begun)).toBeLessThan(to);
      }
    },
  );
});
