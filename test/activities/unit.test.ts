/** Where a unit of author code runs, and when it is given up: only after it has been proven to take down its worker. */
import { describe, expect, it } from '@jest/globals';
import { planUnit } from '../../src/activities/author/unit.ts';
import { LIMITS } from '../../src/core/value/limit.ts';
import type { Strike } from '../../src/store/tool/tool-record.ts';

const suspect = (strikes: number): Strike => ({ work: 'w', threadId: 't', code: 'tool', name: 'a', strikes });

describe('a unit of work', () => {
  it('without suspicion runs in the worker', () => {
    expect([planUnit(null, true), planUnit(null, false)]).toEqual(['here', 'here']);
  });

  it('that is suspect runs alone if possible, and is not given up for it', () => {
    for (let strikes = 0; strikes < LIMITS.strikes; strikes++) {
      expect(planUnit(suspect(strikes), true)).toBe('alone');
      expect(planUnit(suspect(strikes), false)).toBe('here');
    }
  });

  it('is given up after the maximum number of proven crashes', () => {
    expect(planUnit(suspect(LIMITS.strikes), true)).toBe('give_up');
    expect(planUnit(suspect(LIMITS.strikes), false)).toBe('give_up');
  });
});
