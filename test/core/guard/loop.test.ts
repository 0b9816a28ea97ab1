/** The three loop detectors, as functions of a window of calls, and the bounds of their thresholds. */
import { describe, expect, it } from '@jest/globals';
import {
  addWarning,
  composeReminder,
  findLoop,
  type LoopCall,
  toLoopGuard,
} from '../../../src/core/guard/loop.ts';

/** A window of calls: `aab` means calls of `a`, `a` and `b`, oldest first. Capitals are calls with progress. */
function newest(calls: string): LoopCall[] {
  const made = [...calls].map((letter) => ({
    name: 'call',
    signature: letter.toLowerCase(),
    progress: letter !== letter.toLowerCase(),
  }));
  return made.reverse();
}
const GUARD = toLoopGuard();
const found = (calls: string, guard = GUARD) => {
  const verdict = findLoop(newest(calls), guard);
  return verdict && `${verdict.severity} ${verdict.detector} ${verdict.count}`;
};

describe('loops among calls', () => {
  it.each([
    ['AAA', undefined],
    ['AAAA', 'warning generic_repeat 4'],
    ['BAAAA', 'warning generic_repeat 4'],
    ['AAAAAAAA', 'critical generic_repeat 8'],
    ['AAAAAAAAAAB', undefined],
    ['ABA', undefined],
    ['ABAB', 'warning ping_pong 4'],
    ['XABABABAB', 'critical ping_pong 8'],
    // The count stops at the threshold that ends the execution.
    ['ABABABABAB', 'critical ping_pong 8'],
    ['ABBA', undefined],
    ['ABCABCABC', undefined],
    ['abc', undefined],
    ['abcd', 'warning no_progress 4'],
    ['abcdefgh', 'critical no_progress 8'],
    ['abcdEfgh', undefined],
    ['abcdEfghi', 'warning no_progress 4'],
    ['ABCDEFGH', undefined],
  ])('[AX-72] %s: %s', (calls, verdict) => {
    expect(found(calls)).toBe(verdict);
  });

  it('[AX-78] the worst verdict of all detectors counts', () => {
    // The last four are equal, which is a warning; all eight make no progress, which ends the execution.
    expect(found('wxyzaaaa')).toBe('critical no_progress 8');
    expect(found('xyzaaaa')).toBe('warning generic_repeat 4');
  });

  it('[AX-74] thresholds have defaults and minimums, and the history is long enough for them', () => {
    expect(toLoopGuard()).toEqual({ warning: 4, critical: 8, history: 30 });
    expect(toLoopGuard({ warning: 1, critical: 1, history: 1 })).toEqual({
      warning: 3,
      critical: 4,
      history: 8,
    });
    expect(toLoopGuard({ warning: 10 })).toEqual({ warning: 10, critical: 11, history: 30 });
    expect(toLoopGuard({ critical: 50 })).toEqual({ warning: 4, critical: 50, history: 50 });
    expect(found('AAA', toLoopGuard({ warning: 1, critical: 1 }))).toBe('warning generic_repeat 3');
    expect(found('AAAA', toLoopGuard({ warning: 1, critical: 1 }))).toBe('critical generic_repeat 4');
  });

  it('considers at most as many recent calls as its history', () => {
    const guard = { warning: 3, critical: 6, history: 4 };
    expect(found('AAAAAA', guard)).toBe('warning generic_repeat 4');
  });

  it('keeps one warning of a kind, and the reminder names each kind once', () => {
    const warn = (count: number) => ({ name: 'look', detector: 'generic_repeat', count }) as const;
    const both = addWarning(addWarning([], warn(4)), warn(5));
    expect(both).toEqual([warn(5)]);
    const text = composeReminder(addWarning(both, { name: 'find', detector: 'no_progress', count: 4 }));
    expect(text).toBe(
      '[loop-warning] You have called "look" 5 times in a row with the same arguments. You have made 4 calls in a row that returned nothing new, the last one to "find". Use what you have, do something else, or answer: if this continues, your work will be ended.',
    );
  });
});
