/** The pace of requests to one provider: fewer at once after a refusal, more after accepted ones. */
import { describe, expect, it } from '@jest/globals';
import {
  afterAccepted,
  afterRefusal,
  allowed,
  MAX_HOLD_MS,
  mayEnter,
  type Pace,
  pauseAfter,
  UNREFUSED,
} from '../../../src/core/governance/pace.ts';

const none = Number.POSITIVE_INFINITY;
const refuse = (pace: Pace, running: number, given: object = {}) =>
  afterRefusal(pace, { sentAt: 1000, now: 1000, running, random: 0, ...given });

describe('the pace of requests', () => {
  it('is unlimited until the first refusal, except by the definition’s limit', () => {
    expect(mayEnter(UNREFUSED, { running: 500, unanswered: 500 }, 0, none)).toBe(true);
    expect(mayEnter(UNREFUSED, { running: 3, unanswered: 0 }, 0, 3)).toBe(false);
    expect(mayEnter(UNREFUSED, { running: 2, unanswered: 2 }, 0, 3)).toBe(true);
  });

  it('[P1] counts concurrent requests that are refused together as one refusal', () => {
    const first = refuse(UNREFUSED, 40);
    expect([allowed(first), first.refusals]).toEqual([30, 1]);
    const last = refuse(first, 11, { sentAt: 900, now: 1001 });
    expect([allowed(last), last.refusals]).toEqual([10, 1]);
    const later = refuse(last, 11, { sentAt: 1002, now: 1003 });
    expect([allowed(later), later.refusals]).toEqual([7, 2]);
  });

  it('[P2] sends no new request for as long as the provider asks, and a little longer', () => {
    const held = refuse(UNREFUSED, 1, { retryAfterMs: 5000, random: 0.5 });
    expect(held.heldUntil).toBe(6250);
    expect(mayEnter(held, { running: 0, unanswered: 0 }, 6249, none)).toBe(false);
    expect(mayEnter(held, { running: 0, unanswered: 0 }, 6250, none)).toBe(true);
  });

  it('[P2] pauses longer with each consecutive refusal, up to half a minute', () => {
    const pauses = [1, 2, 3, 4, 5, 6, 7].map((refusals) => pauseAfter(refusals, { random: 1 }));
    expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
    expect(pauseAfter(1, { random: 0 })).toBe(500);
    expect([1, 2, 3].map((n) => pauseAfter(n, { retryAfterMs: 0, random: 0 }))).toEqual([0, 500, 1000]);
  });

  it('[P2] does not hold other requests for a requested wait above five minutes', () => {
    expect(pauseAfter(1, { retryAfterMs: MAX_HOLD_MS + 1, random: 1 })).toBe(1000);
  });

  it('[P3] admits one request after a refusal, and one more with each accepted one', () => {
    let pace = refuse(UNREFUSED, 20);
    const enters = (unanswered: number) => mayEnter(pace, { running: unanswered, unanswered }, 10_000, none);
    expect([enters(0), enters(1)]).toEqual([true, false]);
    pace = afterAccepted(pace, { running: 1, unanswered: 0 });
    expect([enters(1), enters(2)]).toEqual([true, false]);
    expect(pace.refusals).toBe(0);
  });

  it('raises its limit only while the limit is reached', () => {
    const pace = refuse(UNREFUSED, 4);
    expect(allowed(pace)).toBe(3);
    expect(afterAccepted(pace, { running: 1, unanswered: 0 }).limit).toBe(3);
    let used = pace;
    for (let n = 0; n < 4; n++) used = afterAccepted(used, { running: 3, unanswered: 0 });
    expect(allowed(used)).toBe(4);
  });
});
