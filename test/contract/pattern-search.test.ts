/** Untrusted patterns: bounded in time, and off the thread that sends heartbeats; lines that span several chunks. */
import { describe, expect, it } from '@jest/globals';
import { LIMITS } from '../../src/core/value/limit.ts';
import { LineSearch } from '../../src/store/search/line-search.ts';
import { withPatternSearch } from '../../src/store/search/pattern-search.ts';
import { watchTurns } from '../support/own-work.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const HOSTILE = '^(a+)+$';
const VICTIM = bytes(`${'a'.repeat(60)}!`);

describe('a pattern', () => {
  it('that never ends is aborted without blocking this thread', async () => {
    let turns = 0;
    const clock = setInterval(() => {
      turns += 1;
    }, 10);
    const watched = watchTurns();
    const search = withPatternSearch(HOSTILE, (search) => search.take(VICTIM, true), { ms: 1000 });
    await expect(search).rejects.toMatchObject({
      code: 'Timeout',
      message: expect.stringContaining(JSON.stringify(HOSTILE)),
    });
    clearInterval(clock);
    expect(watched.stop()).toBeLessThan(500);
    // On a busy machine this thread gets few of its hundred turns; a blocked thread would get none.
    expect(turns).toBeGreaterThan(0);
  });

  it('that was aborted frees its slot for others', async () => {
    const hostile = Array.from({ length: 6 }, () =>
      withPatternSearch(HOSTILE, (search) => search.take(VICTIM, true), { ms: 300 }).catch(
        ({ code }) => code as string,
      ),
    );
    const harmless = withPatternSearch('b', (search) => search.take(bytes('a\nb'), true));
    expect(await Promise.all(hostile)).toEqual(Array(6).fill('Timeout'));
    expect(await harmless).toEqual({ matches: ['b'], lineNumbers: [2] });
  });

  it('has one time limit for all files', async () => {
    const slow = withPatternSearch(
      '^(a+)+$',
      async (search) => {
        for (;;) await search.take(bytes(`${'a'.repeat(22)}!`), true);
      },
      { ms: 500 },
    );
    await expect(slow).rejects.toMatchObject({ code: 'Timeout' });
  });

  it('searches one file after the other, and passes on errors of its caller', async () => {
    const found = await withPatternSearch('x', async (search) => [
      await search.take(bytes('x\ny'), false),
      await search.take(bytes('x'), true),
      await search.take(bytes('y'), true),
    ]);
    expect(found).toEqual([
      null,
      { matches: ['x', 'yx'], lineNumbers: [1, 2] },
      { matches: [], lineNumbers: [] },
    ]);
    await expect(
      withPatternSearch('x', async () => {
        throw new Error('mine');
      }),
    ).rejects.toThrow('mine');
  });
});

describe('lines', () => {
  const searchPieces = (pattern: string, ...pieces: string[]) => {
    const search = new LineSearch(pattern);
    const parts = pieces.map((piece, n) => search.take(bytes(piece), n === pieces.length - 1));
    return parts.at(-1);
  };

  it.each<[string, string[], string[], number[]]>([
    ['^b$', ['a\nb\r\nc'], ['b'], [2]],
    ['^b$', ['a\nb\r', '\nc'], ['b'], [2]],
    ['^$', ['a\n\nb\n'], [''], [2]],
    ['bc', ['ab', 'cd\n', 'bc'], ['abcd', 'bc'], [1, 2]],
    ['a', [''], [], []],
    ['.*', ['\n'], [''], [1]],
    ['[', ['a[b\nc'], ['a[b'], [1]],
  ])('%j in %j', (pattern, pieces, matches, lineNumbers) => {
    expect(searchPieces(pattern, ...pieces)).toEqual({ matches, lineNumbers });
  });

  it('may be split within a character', () => {
    const whole = bytes('héé\né');
    for (let cut = 0; cut <= whole.length; cut++) {
      const search = new LineSearch('é');
      search.take(whole.subarray(0, cut), false);
      expect(search.take(whole.subarray(cut), true)).toEqual({ matches: ['héé', 'é'], lineNumbers: [1, 2] });
    }
  });

  it('are limited to a thousand of a thousand characters, and a long one counts once', () => {
    const many = searchPieces('x', `${'x'.repeat(2000)}\n`.repeat(1500));
    expect([many?.matches.length, many?.matches[0]?.length]).toEqual([
      LIMITS.foundLines,
      LIMITS.foundLineChars,
    ]);
    const long = searchPieces('x', 'x'.repeat(3_000_000), '\nx');
    expect(long?.lineNumbers).toEqual([1, 2]);
  });
});
