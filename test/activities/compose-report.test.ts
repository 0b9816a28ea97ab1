/** What a child reports to its parent about the end of an execution, for each kind of end. */
import { describe, expect, it } from '@jest/globals';
import {
  composeReport,
  type ExecutionEnd,
  findReportSource,
} from '../../src/activities/subagent/compose-report.ts';

const WORDS = { answer: 'so far' };
const idle = (reason?: string): ExecutionEnd => ({ status: 'idle', ...(reason ? { reason } : {}) });

describe("a child's report", () => {
  it.each([
    ['session_stop', 'result'],
    ['session_fail', 'failure'],
  ])('of %s is the payload of the session tool', (reason, kind) => {
    const session = { content: 'all of it', attachments: ['/attachments/a.txt'] };
    expect(composeReport(idle(reason), { ...WORDS, session })).toEqual({ kind, ...session });
  });

  it('of a session tool that left no message is the last answer', () => {
    expect(composeReport(idle('session_stop'), WORDS)).toEqual({
      kind: 'result',
      content: 'so far',
      attachments: [],
    });
  });

  it.each([['state_stop_session'], ['stop_on_response'], ['stop_tool'], ['forced_human_turn']])(
    'of %s is the last answer',
    (reason) => {
      expect(composeReport(idle(reason), WORDS)).toMatchObject({ kind: 'result', content: 'so far' });
    },
  );

  it.each([
    ['max_session_turns'],
    ['max_side_steps'],
    ['max_total_steps'],
    ['hook_blocked'],
    ['empty_response'],
  ])('of %s is a failure with its reason and the last message', (reason) => {
    const report = composeReport(idle(reason), WORDS);
    expect(report?.kind).toBe('failure');
    expect(report?.content).toContain(`(${reason}).\n\nIts last output:\nso far`);
    expect(composeReport(idle(reason), { answer: '' })?.content).toMatch(/\)\.$/);
  });

  it('of a fault is its message and its code', () => {
    const error = { code: 'rate_limit', message: 'slow down' };
    expect(composeReport({ status: 'failed', error }, { answer: '' })).toEqual({
      kind: 'failure',
      content: 'slow down (rate_limit)',
      attachments: [],
    });
  });

  it('of a stop has only its reason', () => {
    expect(composeReport({ status: 'stopped', reason: 'enough' }, WORDS)).toEqual({
      kind: 'stopped',
      content: 'enough',
      attachments: [],
    });
  });

  it('is not made if nothing ended, or the thread was terminated', () => {
    expect(composeReport(idle(), WORDS)).toBeUndefined();
    expect(composeReport({ status: 'terminated', reason: 'enough' }, WORDS)).toBeUndefined();
    expect(findReportSource({ status: 'terminated' })).toBe('nothing');
  });
});
