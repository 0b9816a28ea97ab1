/** The log as the fifteen event types of AgenticX's page: a pure function of its rows. */
import { describe, expect, it } from '@jest/globals';
import { EventType, isTerminal, type RuntimeEvent } from '../../src/projections/agenticx/agenticx-event.ts';
import { projectTurns } from '../../src/projections/agenticx/agenticx-projection.ts';
import { beginTurns, type TurnBegin } from '../../src/projections/agenticx/agenticx-state.ts';
import type { LogRow } from '../../src/projections/projection.ts';
import { rowsOf } from './row.ts';

function readTurns(rows: readonly LogRow[], begin: TurnBegin = {}): RuntimeEvent[] {
  let reading = beginTurns(begin);
  return rows.flatMap((row) => {
    const [next, events] = projectTurns(reading, row);
    reading = next;
    return events;
  });
}

type Row = readonly [type: string, data: object, more?: Partial<LogRow> & { step?: number }];
const began: Row = ['execution.started', { executionId: 'execution-1' }];
const ended: Row = ['execution.ended', { executionId: 'execution-1', reason: 'stop_on_response' }];
const step = (n: number, more = {}): Row => ['step.started', more, { step: n }];
const said = (id: string, content: string, more = {}): Row => [
  'message.created',
  { messageId: id, role: 'assistant' },
  { message: { id, content, metadata: {}, ...more } as never },
];
const committed = (id: string): Row => [
  'step.committed',
  { messageId: id, model: 'm', finishReason: 'stop' },
];
const calling = (id: string, name: string, args: string): readonly Row[] => [
  said(`a-${id}`, '', { tool_calls: JSON.stringify([{ id, function: { name, arguments: args } }]) }),
  committed(`a-${id}`),
  ['tool.called', { name, callId: id }],
];
const result = (id: string, name: string, content: string, refused?: true): readonly Row[] => [
  said(`r-${id}`, content),
  ['tool.result', { name, callId: id, status: refused ? 'error' : 'success', ...(refused && { refused }) }],
];
const types = (events: readonly RuntimeEvent[]) => events.map(({ type }) => type);

describe('a turn in AgenticX’s format', () => {
  it('[AX-01] an answer is a round and one final event, with the text', () => {
    const events = readTurns(rowsOf(began, step(1), said('m', 'Hello'), committed('m'), ended));
    expect(events).toEqual([
      { type: 'round_start', data: { round: 1, max_rounds: null }, agent_id: 'meta' },
      { type: 'final', data: { text: 'Hello' }, agent_id: 'meta' },
    ]);
    expect(events.filter(isTerminal)).toHaveLength(1);
  });

  it('[AX-02] tokens come in order, and a call before its result', () => {
    const events = readTurns(
      rowsOf(
        began,
        step(1),
        ...calling('c1', 'look', '{"at":1}'),
        ...result('c1', 'look', 'seen'),
        step(2),
        ['model.chunk', { delta: 'do', call: 1 }],
        ['model.chunk', { delta: 'ne', call: 1 }],
        said('m', 'done'),
        committed('m'),
        ended,
      ),
    );
    expect(types(events)).toEqual([
      'round_start',
      'tool_call',
      'tool_result',
      'round_start',
      'token',
      'token',
      'final',
    ]);
    expect(events[1]?.data).toEqual({ name: 'look', arguments: { at: 1 }, tool_call_id: 'c1' });
    expect(events[2]?.data).toEqual({
      name: 'look',
      result: 'seen',
      tool_call_id: 'c1',
      is_error: false,
    });
  });

  it('[AX-06] every event has the given agent id', () => {
    const events = readTurns(rowsOf(began, step(1), ended), { agentId: 'clerk' });
    expect(new Set(events.map(({ agent_id: id }) => id))).toEqual(new Set(['clerk']));
  });

  it('[AX-82] a refused call has its call, an error that ends nothing, and its result', () => {
    const events = readTurns(
      rowsOf(
        began,
        step(1),
        ...calling('c1', 'pay', '{}'),
        ...result('c1', 'pay', 'Not allowed', true),
        ended,
      ),
    );
    expect(types(events)).toEqual(['round_start', 'tool_call', 'error', 'tool_result', 'final']);
    expect(events[2]?.data).toEqual({ text: 'Not allowed', terminal: false, tool_call_id: 'c1' });
    expect(events.filter(isTerminal)).toHaveLength(1);
  });

  it('[AX-66] a confirmation precedes the result; a declined one is not an error in addition', () => {
    const wait = { waitId: 'w1', kind: 'approval', name: 'pay', callId: 'c1' };
    const events = readTurns(
      rowsOf(
        began,
        step(1),
        ...calling('c1', 'pay', '{}'),
        ['wait.opened', { ...wait, summary: 'Pay 10?', expiresAt: null }],
        ['wait.answered', { ...wait, approved: false }],
        ...result('c1', 'pay', 'Declined', true),
        ended,
      ),
    );
    expect(types(events)).toEqual([
      'round_start',
      'tool_call',
      'confirm_required',
      'confirm_response',
      'tool_result',
      'final',
    ]);
    expect(events[2]?.data).toEqual({
      id: 'w1',
      question: 'Pay 10?',
      context: { request_id: 'w1', kind: 'approval', tool: 'pay', tool_call_id: 'c1' },
    });
    expect(events[3]?.data).toEqual({ id: 'w1', approved: false });
  });

  it('[AX-05] a stop and a loop end with one error; the loop with its detector', () => {
    const stop = [
      'execution.ended',
      { executionId: 'execution-1', reason: 'Enough', status: 'stopped' },
    ] as const;
    expect(readTurns(rowsOf(began, step(1), stop)).at(-1)?.data).toEqual({ text: 'Enough', terminal: true });
    const error = { code: 'LoopDetected', message: 'It goes round in circles' };
    const loop = readTurns(
      rowsOf(
        began,
        step(1),
        ['loop.critical', { name: 'look', callId: 'c1', detector: 'ping_pong', count: 8 }],
        ['execution.ended', { executionId: 'execution-1', reason: 'error', status: 'failed', error }],
      ),
    );
    expect(loop.at(-1)?.data).toEqual({
      text: 'It goes round in circles',
      terminal: true,
      detector: 'ping_pong',
    });
  });

  it('[AX-27] a compaction has its count and summary', () => {
    const compacted = {
      prompt: 'main',
      messages: 3,
      covered: 13,
      messageId: 'm-13',
      summary: 'They met.',
      reason: 'messages',
    };
    const events = readTurns(rowsOf(began, ['context.compacted', compacted], step(1), ended));
    expect(events[0]).toEqual({
      type: 'compaction',
      data: { compacted_count: 13, summary: 'They met.' },
      agent_id: 'meta',
    });
  });

  it('[AX-83] a subagent has a checkpoint after every eighth round, with its last ten tools', () => {
    const rounds = Array.from({ length: 17 }, (_, n) => [
      step(n + 1),
      ...calling(`c${n}`, `tool_${n % 12}`, '{}'),
      ...result(`c${n}`, `tool_${n % 12}`, 'ok'),
    ]).flat();
    const events = readTurns(rowsOf(began, ...rounds, ended), { agentId: 'child', subagent: true });
    const told = events.flatMap((event, n) =>
      event.type === 'subagent_checkpoint' ? [{ ...event.data, before: events[n - 1]?.data }] : [],
    );
    expect(told).toMatchObject([
      { agent_id: 'child', round: 8, max_rounds: null, before: { round: 9 }, executed_tools: { length: 8 } },
      { agent_id: 'child', round: 16, before: { round: 17 }, executed_tools: { length: 10 } },
    ]);
    expect(told[1]?.executed_tools).toEqual(Array.from({ length: 10 }, (_, n) => `tool_${n + 2}`));
  });

  it('[AX-120] a subagent has events for its start, its progress, and its end or failure', () => {
    const child = { childId: 'thread-2', agent: 'scout' };
    const events = readTurns(
      rowsOf(
        began,
        step(1),
        ...calling('c1', 'scout', '{"at":"door"}'),
        ['subagent.created', { ...child, name: 'one', callId: 'c1' }],
        ['subagent.status', { childId: 'thread-2', status: 'half way' }],
        // Each text comes after its row, and other messages may come between.
        ['subagent.returned', { ...child, by: 'call' }],
        said('other', 'Something else.'),
        said('report', 'The door is open.', { role: 'tool', metadata: { subagent_id: 'thread-2' } }),
        ['subagent.failed', { ...child, kind: 'failure', by: 'message' }],
        said('created', 'The subagent has started.', {
          role: 'tool',
          metadata: { subagent_id: 'thread-2' },
        }),
        said('failure', 'No door.', { role: 'user', metadata: { subagent_id: 'thread-2' } }),
        ['subagent.failed', { ...child, kind: 'canceled', by: 'dropped', reason: 'No longer needed.' }],
        ['subagent.returned', { ...child, by: 'message' }],
        ended,
      ),
    );
    const of = { agent_id: 'thread-2', name: 'one' };
    expect(events.filter(({ type }) => type.startsWith('subagent_'))).toEqual(
      [
        {
          type: 'subagent_started',
          data: { ...of, role: 'scout', task: '{"at":"door"}', status: 'running', mode: 'session' },
        },
        { type: 'subagent_progress', data: { agent_id: 'thread-2', text: 'half way' } },
        { type: 'subagent_completed', data: { ...of, status: 'completed', summary: 'The door is open.' } },
        { type: 'subagent_error', data: { ...of, status: 'failure', summary: 'No door.' } },
        { type: 'subagent_error', data: { ...of, status: 'canceled', summary: 'No longer needed.' } },
        // Its text is read by a later turn.
        { type: 'subagent_completed', data: { ...of, status: 'completed', summary: '' } },
      ].map((event) => ({ ...event, agent_id: 'meta' })),
    );
  });

  it('[AX-84] the types are those of the spec', () => {
    expect(Object.values(EventType).toSorted()).toEqual(
      [
        'round_start token tool_call tool_result confirm_required confirm_response compaction',
        'subagent_checkpoint subagent_paused final error',
        'subagent_started subagent_progress subagent_completed subagent_error',
      ]
        .flatMap((line) => line.split(' '))
        .toSorted(),
    );
  });
});
