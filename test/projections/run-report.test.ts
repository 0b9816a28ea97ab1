/** Run reports: sorted by kind, redacted at every depth, read again, compared, asserted on. */
import { describe, expect, it } from '@jest/globals';
import { RedactionPolicy } from '../../src/projections/run/run-redaction.ts';
import { diffRuns, RunReplay } from '../../src/projections/run/run-replay.ts';
import { toRunReport } from '../../src/projections/run/run-report.ts';
import { assertBudgetUnder, assertNoDeniedActions, assertRunEvents } from '../../src/testing/index.ts';
import { read, rowsOf } from './row.ts';

const usage = { promptTokens: 120, completionTokens: 30, totalTokens: 150 };
const ROWS = [
  ['execution.started', { executionId: 'execution-1' }],
  ['step.started', { items: 1 }, { step: 1 }],
  ['context.prepared', { totalEstimatedTokens: 99, metadata: { authorization: 'Bearer s3' } }],
  ['model.called', { model: 'main', modelId: 'm-1', call: 1 }, { step: 1 }],
  ['model.answered', { call: 1, usage, cost: 0.01 }, { step: 1 }],
  ['tool.called', { name: 'pay', callId: 'c1' }, { step: 1 }],
  ['tool.started', { name: 'pay', callId: 'c1' }, { step: 1 }],
  [
    'custom',
    { event: 'receipt', data: { 'API-Key': 'k1', note: 'with hunter2 inside', list: [{ x_secret: 's' }] } },
  ],
  ['tool.result', { name: 'pay', callId: 'c1', status: 'success' }, { step: 1 }],
  ['wait.opened', { waitId: 'w', kind: 'approval', name: 'pay', summary: 'pay', password: 'p' }],
  ['execution.ended', { executionId: 'execution-1', reason: 'done' }],
] as const;
const EVENTS = read(rowsOf(...ROWS));

describe('a report', () => {
  it('[PL-23] has the events of the run, grouped by kind, and each action once', () => {
    const report = toRunReport(EVENTS, { metadata: { source: 'test' } });
    expect(report.events).toEqual(EVENTS);
    expect(report.context_manifests).toMatchObject([{ total_estimated_tokens: 99 }]);
    expect(report.actions).toMatchObject([{ action_id: 'thread-1:1:0', name: 'pay', status: 'completed' }]);
    expect(report.approvals).toMatchObject([{ type: 'approval.required', request: { request_id: 'w' } }]);
    expect(report.metrics).toMatchObject([{ step: 1, input_tokens: 120, total_tokens: 150, cost: 0.01 }]);
    expect(report.final_task).toMatchObject({ id: 'execution-1', state: 'completed' });
    expect(report.metadata).toMatchObject({ run_id: 'execution-1', thread_id: 'thread-1', source: 'test' });
    expect(report.created_at).toBe(EVENTS.at(-1)?.timestamp);
  });

  it('[PL-23] is redacted at every depth before it is written, and its source is not', () => {
    const redaction = new RedactionPolicy({ sensitiveValues: ['hunter2'] });
    const text = JSON.stringify(toRunReport(EVENTS, { redaction }));
    for (const secret of ['Bearer s3', 'k1', 'hunter2', '"s"', '"p"']) expect(text).not.toContain(secret);
    expect(text).toContain('with [REDACTED] inside');
    expect(text).toContain('"input_tokens":120');
    expect(JSON.stringify(EVENTS)).toContain('Bearer s3');
  });

  it('[PL-23] is read without its original objects, and supports assertions', () => {
    const json = JSON.parse(JSON.stringify(toRunReport(EVENTS, { redaction: new RedactionPolicy() })));
    const replay = new RunReplay(json);
    expect(replay.eventTypes).toEqual(EVENTS.map(({ type }) => type));
    expect(replay.findEvents('app.receipt')).toHaveLength(1);
    assertRunEvents(replay, ['context.prepared', 'llm.call.started', 'llm.call.completed']);
    assertNoDeniedActions(replay);
    expect(assertBudgetUnder(replay, { maxTotalTokens: 8000 })).toMatchObject({ totalTokens: 150 });
  });

  it('refuses an invalid report', () => {
    for (const wrong of [null, {}, { events: 'x' }, { events: [1] }, [1]] as never[])
      expect(() => new RunReplay(wrong)).toThrow(expect.objectContaining({ code: 'InvalidValue' }));
  });
});

describe('a redaction policy', () => {
  it('truncates long texts, uses a custom replacement, and matches names in any case style', () => {
    const policy = new RedactionPolicy({
      sensitiveKeys: ['Session-Id'],
      replacement: '***',
      maxStringLength: 4,
    });
    expect(policy.redact({ session_id: 'a', 'CLIENT-SECRET': 1, text: '123456', token: null })).toEqual({
      session_id: '***',
      'CLIENT-SECRET': '***',
      text: '1234...',
      token: null,
    });
  });

  it('masks the longest of several texts first', () => {
    const policy = new RedactionPolicy({ sensitiveValues: ['pass', 'passphrase'] });
    expect(policy.redact('my passphrase, my pass')).toBe('my [REDACTED], my [REDACTED]');
  });

  it('refuses a negative length and a blank text', () => {
    for (const wrong of [{ maxStringLength: -1 }, { sensitiveValues: [' '] }])
      expect(() => new RedactionPolicy(wrong)).toThrow(expect.objectContaining({ code: 'InvalidValue' }));
  });
});

describe('report assertions', () => {
  it('on events fail with the missing and the present ones', () => {
    const check =
      (types: string[], options = {}) =>
      () =>
        assertRunEvents(EVENTS, types, options);
    expect(check(['action.denied'])).toThrow(/lack action\.denied[\s\S]*Observed: task\.status/);
    expect(check(['task.status', 'context.prepared', 'llm.call.started'])).not.toThrow();
    expect(check(['llm.call.started', 'context.prepared'])).toThrow(/lack context\.prepared/);
    expect(check(['llm.call.started', 'context.prepared'], { ordered: false })).not.toThrow();
    const all = EVENTS.map(({ type }) => type);
    expect(check(all, { allowExtra: false })).not.toThrow();
    expect(check(all.slice(1), { allowExtra: false })).toThrow(/include others/);
    expect(check(all.toReversed(), { allowExtra: false, ordered: false })).not.toThrow();
    expect(
      check(['llm.stream', 'llm.stream', 'llm.stream', 'llm.stream', 'llm.stream', 'llm.stream'], {
        ordered: false,
      }),
    ).toThrow(/lack llm\.stream/);
  });

  it('[PL-23] on denials and budgets fail with messages that name them', () => {
    const began = ROWS[0];
    const denied = read(rowsOf(began, ['action.policy', { actionId: 'a', name: 'pay', effect: 'deny' }]));
    expect(() => assertNoDeniedActions(denied)).toThrow(/denied:\naction\.policy/);
    const refused = read(
      rowsOf(began, ['wait.answered', { waitId: 'w', kind: 'approval', approved: false }]),
    );
    expect(() => assertNoDeniedActions(refused)).toThrow(/approval\.decided/);
    expect(() => assertBudgetUnder(EVENTS, { maxInputTokens: 100 })).toThrow(/120 input tokens, 100 at most/);
    // Tokens that no provider counted are taken from the manifests.
    const uncounted = EVENTS.filter(({ payload }) => payload.llm_event_type !== 'llm_call_metrics');
    expect(assertBudgetUnder(uncounted, {})).toMatchObject({ inputTokens: 99, totalTokens: 99 });
  });
});

describe('two runs', () => {
  it('are compared without the values that differ from run to run', () => {
    expect(diffRuns(EVENTS, read(rowsOf(...ROWS))).every((line) => line.in === 'both')).toBe(true);
    const other = read(rowsOf(...ROWS.slice(0, 5), ...ROWS.slice(8)));
    const told = diffRuns(EVENTS, other).filter((line) => line.in !== 'both');
    expect(told.every((line) => line.in === 'first')).toBe(true);
    expect(told.map(({ line }) => line.split(' | ')[0])).toContain('action.started');
    expect(diffRuns(other, EVENTS).filter((line) => line.in === 'second')).toHaveLength(told.length);
  });
});
