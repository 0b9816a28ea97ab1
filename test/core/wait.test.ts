/** Waits: which answers fit, and their verdicts (core/wait). */
import { describe, expect, it } from '@jest/globals';
import { parseWaitAnswer, type WaitAnswer } from '../../src/core/wait/answer.ts';
import { answerProblem, type JudgedWait, judgeAnswer, WAIT_KINDS } from '../../src/core/wait/wait.ts';

const open: JudgedWait = {
  kind: 'approval',
  state: 'open',
  fingerprint: 'f1',
  answer: null,
  reason: null,
  expiresAt: 100,
};
const yes: WaitAnswer = { approved: true, scope: 'once' };
const judge = (
  wait: Partial<JudgedWait> | undefined,
  answer: WaitAnswer = yes,
  now = 50,
  fingerprint?: string,
) => judgeAnswer(wait && { ...open, ...wait }, { answer, ...(fingerprint ? { fingerprint } : {}) }, now);

describe('an answer to a wait', () => {
  it('is judged by the state of the wait', () => {
    expect(judge(undefined)).toBe('unknown');
    expect(judge({})).toBe('taken');
    expect(judge({}, yes, 50, 'f1')).toBe('taken');
    expect(judge({}, yes, 50, 'f2')).toBe('stale');
    expect(judge({ state: 'closed', reason: 'stopped' })).toBe('closed');
    expect(judge({ state: 'expired' })).toBe('expired');
    expect(judge({}, yes, 100)).toBe('expired');
    expect(judge({ expiresAt: null }, yes, 1e18)).toBe('taken');
  });

  it('is a duplicate if it equals the first one in any field order', () => {
    const answered = { state: 'answered', answer: { scope: 'once', approved: true } } as const;
    expect(judge(answered)).toBe('duplicate');
    expect(judge(answered, yes, 1e18, 'f2')).toBe('duplicate');
    expect(judge(answered, { approved: false })).toBe('already_answered');
    expect(judge(answered, { ...yes, by: 'somebody else' })).toBe('already_answered');
  });

  it('must match the kind of the wait; a denial always does', () => {
    const fits = (answer: WaitAnswer) =>
      WAIT_KINDS.filter((kind) => answerProblem({ kind, changeable: false }, answer) === undefined);
    expect(fits({ approved: false })).toEqual(WAIT_KINDS);
    expect(fits({ approved: true })).toEqual(['approval', 'paused']);
    expect(fits({ value: 1 })).toEqual(['question', 'variables']);
    expect(fits({ value: { completed: false, note: 'not in the books' } })).toEqual([
      'question',
      'variables',
      'reconcile',
    ]);
    for (const value of [{}, { completed: 1 }, { completed: true, note: 2 }, { completed: true, by: 'me' }])
      expect(fits({ value })).toEqual(['question', 'variables']);
  });

  it.each([
    [{ approved: true, reason: 'fine', scope: 'thread', by: 'ada' }, undefined],
    [{ approved: false, reason: null, scope: null, by: null }, undefined],
    [{ value: null }, undefined],
    [{ value: { deep: [1] }, by: 'ada' }, undefined],
    [null, 'must be an object'],
    [[], 'must be an object'],
    [{}, '"approved": true or false'],
    [{ approved: 'yes' }, '"approved": true or false'],
    [{ approved: true, value: 1 }, 'either "value" or "approved"'],
    [{ approved: true, scope: 'ever' }, '"scope" must be one of once, execution, thread, always'],
    [{ approved: true, arguments: {} }, undefined],
    [{ approved: true, args: {} }, 'unknown field "args"'],
    [{ approved: true, arguments: [] }, '"arguments" must be an object'],
    [{ approved: false, arguments: {} }, 'belong to "approved": true'],
    [{ approved: true, scope: 'thread', arguments: {} }, 'leave "scope" out'],
    [{ approved: true, reason: 'x'.repeat(2001) }, '"reason" must be a string'],
    [{ value: 'x'.repeat(70_000) }, 'larger than'],
  ])('%j is parsed as %p', (given, refusal) => {
    const parsed = parseWaitAnswer(given);
    expect(parsed.ok ? undefined : parsed.reason).toEqual(
      refusal === undefined ? undefined : expect.stringContaining(refusal),
    );
  });
});
