/** Governance rows as RunEvents, without an engine: the page's types, order, ids and severities. */
import { describe, expect, it } from '@jest/globals';
import { contextOf } from '../../src/core/governance/run-context.ts';
import { read, rowsOf } from './row.ts';

const began = ['execution.started', { executionId: 'execution-1', runId: 'run_123' }] as const;
const called = ['tool.called', { name: 'publish', callId: 'call_1' }, { step: 1 }] as const;
const about = { actionId: 'thread-1:1:0', name: 'publish', callId: 'call_1' };

describe('another attempt at a step', () => {
  it.each(['worker_lost', 'worker_shutdown', 'budget'] as const)(
    'has its cause as its reason: %s',
    (cause) => {
      const events = read(rowsOf(began, ['step.retried', { reason: 'in words', cause }, { step: 1 }]));
      expect(events.at(-1)).toMatchObject({
        severity: cause === 'worker_lost' ? 'warning' : 'info',
        payload: { llm_event_type: 'llm_retry', reason: cause, message: 'in words' },
      });
    },
  );
});

describe('rows of policies, approvals and budgets', () => {
  it('[PL-21] a descendant’s wait appears in the run that it blocks, and not as its action', () => {
    const wait = { waitId: 'w1', kind: 'approval', name: 'publish', callId: 'call_1', threadId: 'thread-2' };
    const [, , required, decided] = read(
      rowsOf(
        began,
        called,
        ['wait.opened', { ...wait, summary: 'approval of publish', expiresAt: null }],
        ['wait.closed', { ...wait, reason: 'answered', approved: true, by: 'operator' }],
      ),
    );
    expect(required).toMatchObject({
      type: 'approval.required',
      action_id: null,
      payload: { request: { request_id: 'w1', thread_id: 'thread-2' } },
    });
    expect(decided).toMatchObject({
      type: 'approval.decided',
      payload: {
        decision: { request_id: 'w1', thread_id: 'thread-2', approved: true, decided_by: 'operator' },
      },
    });
  });

  it('[PL-21] an approved action has its events in the order of the spec, each with its ids', () => {
    const wait = { waitId: 'w1', kind: 'approval', name: 'publish', callId: 'call_1' };
    const preview = { kind: 'preview', actionId: 'thread-1:1:0', content: { status: 'published' } };
    const events = read(
      rowsOf(
        began,
        called,
        [
          'action.requested',
          { ...about, kind: 'tool.call', capabilities: ['records.write'], artifacts: [preview] },
          { step: 1 },
        ],
        ['action.policy', { ...about, effect: 'require_approval', matchedCapabilities: ['records.write'] }],
        ['wait.opened', { ...wait, summary: 'approval of publish', expiresAt: null }],
        ['wait.answered', { ...wait, approved: true, by: 'operator' }],
        ['action.started', { actionId: about.actionId, name: 'publish' }],
        ['tool.started', { name: 'publish', callId: 'call_1' }, { step: 1 }],
        ['action.completed', { actionId: about.actionId, name: 'publish' }],
        ['tool.result', { name: 'publish', callId: 'call_1', status: 'success' }, { step: 1 }],
      ),
    );
    expect(events.map(({ type, severity }) => [type, severity])).toEqual([
      ['task.status', 'info'],
      ['llm.stream', 'info'],
      ['action.requested', 'info'],
      ['action.policy', 'info'],
      ['approval.required', 'warning'],
      ['approval.decided', 'info'],
      ['action.started', 'info'],
      ['action.completed', 'info'],
    ]);
    expect(new Set(events.slice(2).map(({ action_id: id }) => id))).toEqual(new Set(['thread-1:1:0']));
    expect(events.every(({ run_id: id }) => id === 'run_123')).toBe(true);
    expect(events[3]?.payload.decision).toMatchObject({
      effect: 'require_approval',
      matched_capabilities: ['records.write'],
    });
    expect(events[4]?.payload.request).toMatchObject({ request_id: 'w1', run_id: 'run_123' });
    expect(events[4]?.payload.request).toMatchObject({
      action: {
        action_id: 'thread-1:1:0',
        capabilities: ['records.write'],
        artifacts: [{ kind: 'preview', action_id: 'thread-1:1:0' }],
      },
    });
    expect(events[5]?.payload.decision).toMatchObject({
      request_id: 'w1',
      approved: true,
      decided_by: 'operator',
    });
  });

  it('a denied action never starts, and its error result is not another end', () => {
    const events = read(
      rowsOf(
        began,
        called,
        ['action.requested', { ...about, kind: 'tool', capabilities: ['records.delete'] }],
        ['action.policy', { ...about, effect: 'deny' }],
        ['action.denied', { ...about, code: 'ActionDenied', reason: 'records.delete is denied' }],
        ['tool.result', { name: 'publish', callId: 'call_1', status: 'error' }],
      ),
    );
    expect(events.slice(2).map(({ type, severity }) => [type, severity])).toEqual([
      ['action.requested', 'info'],
      ['action.policy', 'info'],
      ['action.denied', 'error'],
    ]);
    expect(events.at(-1)?.payload).toMatchObject({ reason: 'records.delete is denied' });
  });

  it('[PL-26] an uncertain action fails once, and is marked as uncertain', () => {
    const { actionId, name } = about;
    const events = read(
      rowsOf(
        began,
        called,
        ['action.started', { actionId, name }],
        ['action.uncertain', { actionId, name }],
        ['tool.unknown', { name, callId: 'call_1', status: 'error' }],
        ['action.reconciled', { actionId, name, completed: true, by: 'operator' }],
      ),
    );
    expect(events.slice(2).map(({ type, payload }) => [type, payload.uncertain])).toEqual([
      ['action.started', undefined],
      ['action.failed', true],
      ['action.completed', undefined],
    ]);
    expect(events.at(-1)?.payload.reconciliation).toMatchObject({ by: 'operator' });
  });

  it('an approval without an answer is a denial', () => {
    const wait = { waitId: 'w1', kind: 'approval', name: 'publish', callId: 'call_1' };
    const events = read(rowsOf(began, called, ['wait.closed', { ...wait, reason: 'expired' }]));
    expect(events.at(-1)).toMatchObject({
      type: 'approval.decided',
      payload: { decision: { approved: false, reason: 'expired' } },
    });
  });

  it('another wait is a task that needs input, until it is over', () => {
    const wait = { waitId: 'w1', kind: 'question', name: 'ask' };
    const events = read(
      rowsOf(began, ['wait.opened', { ...wait, summary: 'Which one?' }], ['wait.answered', wait]),
    );
    expect(events.slice(1).map(({ payload }) => payload.new_state)).toEqual(['input-required', 'working']);
  });

  it('[PL-18] budgets warn and deny in the terms of the spec', () => {
    const limit = { executionId: 'execution-1', limit: 'maxToolCalls', max: 5 };
    const events = read(
      rowsOf(
        began,
        ['budget.warning', { ...limit, used: 4 }],
        ['budget.exceeded', { ...limit, observed: 6 }],
      ),
    );
    expect(events.slice(1).map(({ type, severity, payload }) => [type, severity, payload.decision])).toEqual([
      [
        'budget.warning',
        'warning',
        expect.objectContaining({ effect: 'warn', limit_name: 'max_tool_calls', observed: 4 }),
      ],
      ['budget.exceeded', 'error', expect.objectContaining({ effect: 'deny', observed: 6, limit: 5 })],
    ]);
  });
});

describe('a projection', () => {
  const started = [
    began,
    ['model.chunk', { delta: 'a', call: 1 }, { step: 1 }],
    ['model.chunk', { delta: 'b', call: 1 }, { step: 1 }],
    ['custom', { event: 'here', data: null }],
  ] as const;

  it('keeps the sequence numbers of remaining rows after others were pruned', () => {
    const rows = rowsOf(...started);
    const whole = read(rows);
    const pruned = read(rows.filter(({ event }) => event.type !== 'model.chunk'));
    expect(whole.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4]);
    expect(pruned).toEqual([whole[0], whole[3]]);
  });

  it('sends custom events between runs without a run', () => {
    const [event] = read(rowsOf(['custom', { event: 'tick', data: 1 }]));
    expect(event).toMatchObject({ type: 'app.tick', run_id: null, sequence: null, payload: { data: 1 } });
  });

  it('[PL-01] has the context of the execution at its start and with its task', () => {
    const place = { executionId: 'execution-1', rootId: 'thread-1', agent: 'desk' };
    const context = contextOf({ runId: 'run_123', sessionId: 'session_abc' }, place);
    const told = { run_id: 'run_123', session_id: 'session_abc', agent_chain: ['desk'] };
    const events = read(
      rowsOf([...began, { context }], ['execution.ended', { executionId: 'execution-1', reason: 'done' }]),
    );
    expect(events[0]?.payload.run_context).toMatchObject(told);
    expect(events[1]).toMatchObject({
      final: true,
      payload: { task: { state: 'completed', metadata: { run_context: told } } },
    });
  });
});

describe('rows of model requests', () => {
  it('[PL-21] an abandoned request names the attempt to discard, and a waiting one is shown as waiting', () => {
    const events = read(
      rowsOf(
        began,
        ['model.waiting', { call: 1 }, { step: 1 }],
        ['model.failed', { call: 1, code: 'timeout', message: 'stalled', plain: true }, { step: 1 }],
        ['attempt.discarded', { attempt: 2, call: 1, reason: 'timeout' }, { step: 1 }],
      ),
    );
    expect(events.slice(1).map(({ payload }) => payload)).toMatchObject([
      { llm_event_type: 'llm_waiting', step: 1, attempt: 1 },
      { llm_event_type: 'llm_retry', step: 1, attempt: 1, reason: 'timeout' },
      { llm_event_type: 'llm_discarded', step: 1, attempt: 1, worker_attempt: 2, reason: 'timeout' },
    ]);
  });
});
