/** The log as AG-UI: a pure function of its rows. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { answerIdOf } from '../../src/core/message/answer-id.ts';
import { endAtWait } from '../../src/projections/ag-ui/ag-ui-end.ts';
import type { AgUiEvent } from '../../src/projections/ag-ui/ag-ui-event.ts';
import { enterRun, projectAgUi } from '../../src/projections/ag-ui/ag-ui-projection.ts';
import { type AgUiReading, beginAgUi } from '../../src/projections/ag-ui/ag-ui-state.ts';
import type { LogRow } from '../../src/projections/projection.ts';
import { type Row, rowsOf } from './row.ts';

const THREAD = 'thread-1';

function readFrom(begin: AgUiReading, rows: readonly LogRow[]): [AgUiReading, AgUiEvent[]] {
  let reading = begin;
  const told = rows.flatMap((row) => {
    const [next, events] = projectAgUi(reading, row);
    reading = next;
    return events;
  });
  return [reading, told];
}
const readRows = (...rows: readonly Row[]) => readFrom(beginAgUi(THREAD), rowsOf(...rows))[1];

const began: Row = ['execution.started', { executionId: 'e-1' }];
const ended = (more = {}): Row => [
  'execution.ended',
  { executionId: 'e-1', reason: 'stop_on_response', ...more },
];
const step = (n: number): Row => ['step.started', {}, { step: n }];
const chunk = (n: number, delta: string, call = 1): Row => ['model.chunk', { delta, call }, { step: n }];
const discarded = (n: number): Row => [
  'attempt.discarded',
  { attempt: 1, call: 1, reason: 'WorkerLost' },
  { step: n },
];
let made = 100;
const message = (id: string, role: string, content: string | null, more = {}): Row => [
  'message.created',
  { messageId: id, role },
  { message: { id, content, silent: false, metadata: {}, created_at: ++made, ...more } as never },
];
const committed = (n: number, content: string | null, more = {}): readonly Row[] => [
  message(answerIdOf(THREAD, n), 'assistant', content, more),
  ['step.committed', { messageId: answerIdOf(THREAD, n), model: 'm', finishReason: 'stop' }, { step: n }],
];
const calling = (...calls: readonly (readonly [id: string, name: string, args: string])[]) => ({
  tool_calls: JSON.stringify(calls.map(([id, name, args]) => ({ id, function: { name, arguments: args } }))),
});
const wait = {
  waitId: 'w-1',
  kind: 'approval',
  name: 'pay',
  callId: 'c1',
  summary: 'pays 5',
  expiresAt: 1_700_000_000_000_000,
};

/** Every kind of row that a run reports. */
function whole(): readonly Row[] {
  made = 100;
  return [
    message('u-1', 'user', 'pay, then look'),
    began,
    ['thread.status', { status: 'running' }],
    step(1),
    chunk(1, 'Wro'),
    discarded(1),
    chunk(1, 'Pay', 2),
    [
      'model.answered',
      { call: 2, cost: null, usage: { promptTokens: 9, completionTokens: 2, totalTokens: 11 } },
    ],
    ...committed(1, 'Paying', calling(['c1', 'pay', '{"amount":5}'], ['c2', 'ask', '{}'])),
    ['tool.called', { name: 'pay', callId: 'c1' }],
    ['tool.called', { name: 'ask', callId: 'c2' }],
    message('r-1', 'tool', 'paid'),
    ['tool.result', { name: 'pay', callId: 'c1', status: 'success' }],
    ['subagent.created', { childId: 'child-1', agent: 'aide', name: null, callId: 'c2' }],
    ['subagent.returned', { childId: 'child-1', agent: 'aide', kind: 'success', by: 'call' }],
    ['subagent.created', { childId: 'child-2', agent: 'aide', name: 'Bo' }],
    message('r-2', 'tool', 'asked'),
    ['tool.result', { name: 'ask', callId: 'c2', status: 'success' }],
    ['file.created', { path: '/a.txt', mimeType: 'text/plain', size: 3 }],
    message('u-2', 'user', 'hurry'),
    step(2),
    ...committed(2, 'Done'),
    ended(),
    message('u-3', 'user', 'later'),
  ];
}

describe('a run in AG-UI’s format', () => {
  it('equals its golden file', () => {
    const path = join(import.meta.dirname, 'golden', 'ag-ui.json');
    const told = readRows(...whole());
    if (process.env.EVERTHREAD_WRITE_GOLDEN) writeFileSync(path, `${JSON.stringify(told, null, 2)}\n`);
    expect(told).toEqual(JSON.parse(readFileSync(path, 'utf8')));
  });

  it('takes back abandoned attempts by a snapshot before the answer, and has the committed text', () => {
    const id = answerIdOf(THREAD, 1);
    const shown = (...rows: readonly Row[]) => {
      const texts = new Map<string, string>();
      made = 100;
      const user = message('u-1', 'user', 'hi');
      for (const event of readRows(user, began, step(1), ...rows, ...committed(1, 'Hello you'), ended())) {
        // The snapshot has the earlier messages only: the user's.
        if (event.type === 'MESSAGES_SNAPSHOT') {
          expect(event.upTo).toBe(101);
          texts.clear();
        }
        if (event.type === 'TEXT_MESSAGE_START') texts.set(event.messageId, '');
        if (event.type === 'TEXT_MESSAGE_CONTENT')
          texts.set(event.messageId, (texts.get(event.messageId) as string) + event.delta);
      }
      return [...texts];
    };
    for (const rows of [
      [chunk(1, 'Hello'), chunk(1, ' you')],
      [chunk(1, 'Hel')],
      [chunk(1, 'Bye'), discarded(1), chunk(1, 'Hello', 2)],
      [chunk(1, 'Bye'), chunk(1, 'Hello', 2)],
      // A hook has changed the text.
      [chunk(1, 'Bye')],
      [],
    ])
      expect(shown(...rows)).toEqual([[id, 'Hello you']]);
  });

  it('ends with an error, as cancelled, or with open waits as interrupts', () => {
    const last = (more: object) => readRows(began, step(1), chunk(1, 'He'), ended(more)).slice(-3);
    const error = { code: 'BudgetExceeded', message: 'Too dear.' };
    const closed = [
      { type: 'TEXT_MESSAGE_END', messageId: answerIdOf(THREAD, 1) },
      { type: 'STEP_FINISHED', stepName: 'step 1' },
    ];
    expect(last({ status: 'failed', error })).toEqual([
      ...closed,
      { type: 'RUN_ERROR', ...error, usage: [] },
    ]);
    expect(last({ status: 'stopped', reason: 'canceled' })).toEqual([
      ...closed,
      { type: 'RUN_FINISHED', outcome: { type: 'cancelled' }, usage: [] },
    ]);
    const [reading] = readFrom(
      beginAgUi(THREAD),
      rowsOf(began, step(1), ['wait.opened', wait], ['thread.status', { status: 'waiting' }]),
    );
    expect(endAtWait(reading.open as never)).toEqual([
      { type: 'STEP_FINISHED', stepName: 'step 1' },
      {
        type: 'RUN_FINISHED',
        usage: [],
        outcome: {
          type: 'interrupt',
          interrupts: [
            expect.objectContaining({
              id: 'w-1',
              reason: 'tool_call',
              message: 'pays 5',
              toolCallId: 'c1',
              expiresAt: '2023-11-14T22:13:20.000Z',
            }),
          ],
        },
      },
    ]);
  });

  it('a run read from the middle of an execution starts with a snapshot, and closes only what it opened', () => {
    const [reading] = readFrom(
      beginAgUi(THREAD),
      rowsOf(message('u-1', 'user', 'hi'), began, step(1), ...committed(1, 'Half'), [
        'subagent.created',
        { childId: 'child-1', agent: 'aide', name: null },
      ]),
    );
    const [entered, before] = enterRun(reading);
    expect(before).toEqual([{ type: 'MESSAGES_SNAPSHOT', upTo: reading.upTo }]);
    expect(readFrom(entered, rowsOf(ended()))[1]).toEqual([
      { type: 'RUN_FINISHED', outcome: { type: 'success' }, usage: [] },
    ]);
  });

  it('calls shown by a snapshot are not sent again, so that no client joins their arguments twice; their results are', () => {
    const called: Row = ['tool.called', { name: 'look', callId: 'c2' }];
    const answered: readonly Row[] = [
      message('r-2', 'tool', 'seen'),
      ['tool.result', { name: 'look', callId: 'c2', status: 'success' }],
    ];
    const calls = calling(['c1', 'pay', '{}'], ['c2', 'look', '{}']);
    const [reading] = readFrom(beginAgUi(THREAD), rowsOf(began, step(1), ...committed(1, null, calls)));
    const [entered] = enterRun(reading);
    const result = expect.objectContaining({ type: 'TOOL_CALL_RESULT', toolCallId: 'c2', content: 'seen' });
    expect(readFrom(entered, rowsOf(called, ...answered))[1]).toEqual([result]);
    // The same if a user's message is shown in between.
    const [, told] = readFrom(reading, rowsOf(message('u-2', 'user', 'hurry'), called, ...answered));
    expect(told.map(({ type }) => type)).toEqual(['MESSAGES_SNAPSHOT', 'TOOL_CALL_RESULT']);
  });

  it('client tool calls use the client’s names, together if one message has several, and end the run as an answer does', () => {
    const calls = calling(
      ['c1', 'client__paint', '{"n":1}'],
      ['c2', 'client__paint', '{"n":2}'],
      ['c3', 'look', '{}'],
    );
    const asked = { ...wait, kind: 'question', name: 'client__paint', callId: 'c1' };
    const [reading, told] = readFrom(
      beginAgUi(THREAD),
      rowsOf(
        ...[began, step(1), ...committed(1, null, calls)],
        ['tool.called', { name: 'client__paint', callId: 'c1' }],
        ['wait.opened', asked],
        ['thread.status', { status: 'waiting' }],
      ),
    );
    const names = (events: readonly AgUiEvent[]) =>
      events.flatMap((event) =>
        event.type === 'TOOL_CALL_START' ? [[event.toolCallId, event.toolCallName]] : [],
      );
    const last = endAtWait(reading.open as never);
    expect([names(told), names(last)]).toEqual([[['c1', 'paint']], [['c2', 'paint']]]);
    expect(last.at(-1)).toEqual({ type: 'RUN_FINISHED', outcome: { type: 'success' }, usage: [] });
  });
});
