/** How often workflow contexts are rebuilt, and when a thread that destroyed one is retried. */
import { describe, expect, it } from '@jest/globals';
import { RebuildPace } from '../../src/worker/rebuild-pace.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe('rebuilds', () => {
  it('[worker P1] wait longer each time within a minute, up to eight seconds', () => {
    const pace = new RebuildPace();
    const delays = Array.from({ length: 9 }, (_, n) => pace.beginRebuild(n));
    expect(delays).toEqual([0, 250, 500, 1000, 2000, 4000, 8000, 8000, 8000]);
  });

  it('[worker P1] run at once after a quiet minute', () => {
    const pace = new RebuildPace();
    pace.beginRebuild(0);
    pace.beginRebuild(1);
    expect(pace.beginRebuild(MINUTE + 1)).toBe(0);
  });
});

describe('a thread that exceeded the timeout', () => {
  it('[worker P2] is refused, and no other is', () => {
    const pace = new RebuildPace();
    expect(pace.refusedUntil('culprit', 0)).toBeUndefined();
    expect(pace.strike('culprit', 0)).toEqual({ count: 1, refusedMs: 5000 });
    expect(pace.refusedUntil('culprit', 4999)).toBe(5000);
    expect(pace.refusedUntil('bystander', 0)).toBeUndefined();
    expect(pace.refusedUntil('culprit', 5000)).toBeUndefined();
  });

  it('[worker P2] is refused for longer each time, up to ten minutes, until an hour without a timeout', () => {
    const pace = new RebuildPace();
    const refusals = Array.from({ length: 9 }, (_, n) => pace.strike('culprit', n).refusedMs / 1000);
    expect(refusals).toEqual([5, 10, 20, 40, 80, 160, 320, 600, 600]);
    expect(pace.strike('culprit', 8 + HOUR)).toEqual({ count: 1, refusedMs: 5000 });
  });

  it('[worker P2] is forgotten first after a thousand others', () => {
    const pace = new RebuildPace();
    for (let n = 0; n <= 1000; n += 1) pace.strike(`culprit-${n}`, n);
    expect(pace.refusedUntil('culprit-0', 1000)).toBeUndefined();
    expect(pace.refusedUntil('culprit-1', 1000)).toBeDefined();
  });
});
