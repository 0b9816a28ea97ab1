/** When the older part of a history is replaced by a summary, and where it is cut. */
import { describe, expect, it } from '@jest/globals';
import { type CompactedView, planCompaction } from '../../src/core/context/compaction.ts';
import { type ContextMessage, pairResults } from '../../src/core/context/context.ts';
import { type CompactionGuard, toCompactionGuard } from '../../src/core/guard/compaction.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { asks, result, says, user } from './context-rows.ts';

const GUARD = toCompactionGuard();
const WIDE = { room: 1_000_000, trimmed: false, again: false };

const plan = (
  shown: readonly ContextMessage[],
  { guard = GUARD, ...view }: Partial<CompactedView> & { guard?: CompactionGuard } = {},
) => planCompaction({ ...WIDE, shown, ...view }, guard);

/** `count` rows; the last one is an answer. */
const talk = (count: number, chars = 10) =>
  Array.from({ length: count }, (_, index) => ((count - index) % 2 ? says : user)('x'.repeat(chars)));
/** The rows of a request: those before, and the user's new message. */
const asked = (rows: readonly ContextMessage[]) => [...rows, user('And now?')];

describe('a history', () => {
  it.each([
    [20, undefined],
    [21, 13],
    [22, 14],
  ])('[AX-20] of %i rows and a new message has %p rows summarised', (rows, covered) => {
    const shown = asked(talk(rows));
    const found = plan(shown);
    expect(found?.covered.length).toBe(covered);
    if (found) expect(found).toMatchObject({ reason: 'messages', messageId: shown[rows - 9]?.id });
  });

  it.each([
    [9, 1],
    [8, undefined],
  ])('[AX-21] of %i long rows has %p summarised', (rows, covered) => {
    const found = plan(asked(talk(rows, 6001)));
    expect(found?.covered.length).toBe(covered);
    expect(found?.reason).toBe(covered && 'chars');
  });

  it('[AX-21] of exactly the allowed characters is not summarised', () => {
    expect(plan(asked(talk(10, 4800)))).toBeUndefined();
    expect(plan(asked(talk(10, 4801)))).toMatchObject({ reason: 'chars' });
  });

  it('with a summary is not summarised row by row, however long its rows are', () => {
    expect(plan(asked(talk(11, 20_000)), { again: true })).toBeUndefined();
    expect(plan(asked(talk(12, 20_000)), { again: true })?.covered).toHaveLength(4);
  });

  it('that ends with tool results counts them too', () => {
    const rows = [...talk(19), asks(9, ['c']), result(9, 'c', 'found')];
    expect(plan(rows)?.covered).toHaveLength(13);
  });

  it.each([
    [{ thresholdMessages: 1, thresholdChars: 1, retainRecentMessages: 1 }, [8, 4000, 4]],
    [{ retainRecentMessages: 30 }, [34, 48_000, 30]],
    [{ byWindow: true }, [200, 200_000, 8]],
    [{ byWindow: true, thresholdMessages: 40 }, [40, 200_000, 8]],
    [{}, [20, 48_000, 8]],
  ])('[AX-22] has the minimums and defaults of its guard: %j', (given, [messages, chars, retained]) => {
    expect(toCompactionGuard(given)).toMatchObject({
      thresholdMessages: messages,
      thresholdChars: chars,
      retainRecentMessages: retained,
    });
  });
});

describe('a cut', () => {
  it('[AX-26] keeps a call together with all of its results', () => {
    const before = talk(12);
    const group = [asks(5, ['a', 'b', 'c']), result(5, 'a', '1'), result(5, 'b', '2'), result(5, 'c', '3')];
    const rows = [...before, ...group, ...talk(6)];
    const found = plan(rows);
    expect(found?.covered).toHaveLength(12);
  });

  it('[AX-26] keeps a message between a call and its result with both', () => {
    const before = talk(13);
    const [call, between, answer] = [asks(5, ['a']), user('still there?'), result(5, 'a', '1')];
    const rows = pairResults([...before, call, between, answer, ...talk(7)]);
    expect(rows.slice(13, 16).map(({ id }) => id)).toEqual([call.id, answer.id, between.id]);
    const found = plan(rows);
    expect(found?.covered).toHaveLength(13);
    expect(found?.until).toBeLessThan(call.created_at);
  });

  it('is not made if the history is one call and its results', () => {
    const ids = Array.from({ length: 30 }, (_, index) => `c${index}`);
    expect(plan([asks(1, ids), ...ids.map((id) => result(1, id, 'r'))])).toBeUndefined();
  });

  it('[AX-26] never leaves a result first, and summarises nothing newer (300 random histories, seed 26)', () => {
    const { below } = seededRandom(26);
    for (let round = 0; round < 300; round += 1) {
      const open: ContextMessage[] = [];
      const rows = Array.from({ length: 9 + below(60) }, (_, step): ContextMessage => {
        const waiting = open.shift();
        if (waiting && below(3) > 0) return waiting;
        if (below(3) === 0) {
          const ids = Array.from({ length: 1 + below(4) }, (_each, index) => `${step}.${index}`);
          const call = asks(step, ids);
          open.push(...ids.map((id) => result(step, id, 'r')));
          return call;
        }
        return below(2) === 0 ? user('u') : says('s');
      }).map((row, index) => ({ ...row, created_at: index + 1 }));
      const shown = pairResults(rows);
      const found = plan(shown, { room: 50 + below(2000) });
      if (!found) continue;
      const kept = shown.slice(found.covered.length);
      expect(kept[0]?.role).not.toBe('tool');
      expect(found.covered.every(({ created_at: at }) => at <= found.until)).toBe(true);
      expect(kept.every(({ created_at: at }) => at > found.until)).toBe(true);
      expect(found.covered.length).toBeGreaterThan(0);
    }
  });
});

describe('a window', () => {
  it('too small for a short history triggers a summary, and reserves half for recent rows', () => {
    // Each row counts as 104 tokens.
    const found = plan(asked(talk(12, 400)), { room: 1000 });
    expect(found).toMatchObject({ reason: 'window' });
    expect(found?.covered).toHaveLength(8);
  });

  it.each([1, 100, 8192, 32_768, 128_000, 200_000])(
    'of %i tokens never triggers an empty summary',
    (room) => {
      const guard = toCompactionGuard({ byWindow: true });
      expect(plan([user('hi')], { room, guard })).toBeUndefined();
      expect(
        plan([user('hi'), says('hello'), user('ok')], { room: Math.max(room, 100), guard }),
      ).toBeUndefined();
    },
  );

  it.each([
    [8192, 6144],
    [128_000, 96_000],
    [200_000, 167_000],
  ])('of %i tokens is nearly full above %i', (room, full) => {
    const guard = toCompactionGuard({ byWindow: true, thresholdChars: 10_000_000 });
    const rows = (tokens: number) => [...talk(3), says('x'.repeat((tokens - 4 - 3 * 7) * 4))];
    expect(plan(rows(full), { room, guard })).toBeUndefined();
    expect(plan(rows(full + 1), { room, guard })).toMatchObject({ reason: 'window' });
  });

  it('too small for all messages triggers a summary of the rest', () => {
    expect(plan(asked(talk(10)), { trimmed: true })).toMatchObject({ reason: 'window' });
  });
});
