/** The log as events of Tangle's agent-runtime, compared with golden files: a pure function of its rows. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { LogRow } from '../../src/projections/projection.ts';
import { toTurnLine } from '../../src/projections/tangle/chat-turn.ts';
import type { TangleEvent } from '../../src/projections/tangle/tangle-event.ts';
import { projectTangle } from '../../src/projections/tangle/tangle-projection.ts';
import { beginTangle } from '../../src/projections/tangle/tangle-state.ts';
import { rowsOf } from './row.ts';

function readTangle(rows: readonly LogRow[]): TangleEvent[] {
  let reading = beginTangle('session-7');
  return rows.flatMap((row) => {
    const [next, events] = projectTangle(reading, row);
    // The state between two rows is plain JSON.
    reading = JSON.parse(JSON.stringify(next));
    return events;
  });
}

const IDENTITY = { tenantId: 'acme', sessionId: 'session-7', userId: 'ada', turnIndex: 3 };

/** Compares the lines of a turn with the recorded ones. `EVERTHREAD_WRITE_GOLDEN=1` rewrites them. */
function expectGoldenTurn(name: string, rows: readonly LogRow[]): TangleEvent[] {
  const path = join(import.meta.dirname, 'golden', `${name}.ndjson`);
  const events = readTangle(rows);
  const lines = events.map((event) => `${JSON.stringify(toTurnLine(IDENTITY, event))}\n`).join('');
  if (process.env.EVERTHREAD_WRITE_GOLDEN) writeFileSync(path, lines);
  expect(lines).toBe(readFileSync(path, 'utf8'));
  return events;
}

type Row = readonly [type: string, data: object, more?: Partial<LogRow> & { step?: number }];
const began: Row = ['execution.started', { executionId: 'chat:session-7:3' }];
const ended = (more = {}): Row => [
  'execution.ended',
  { executionId: 'chat:session-7:3', reason: 'stop_on_response', ...more },
];
const step = (n: number): Row => ['step.started', {}, { step: n }];
const chunk = (delta: string, more = {}): Row => ['model.chunk', { delta, call: 1, ...more }];
const asked = (model: string): Row => ['model.called', { model, modelId: model, call: 1 }];
const answered = (cost: number | null = null): Row => [
  'model.answered',
  { call: 1, usage: { promptTokens: 12, completionTokens: 3, totalTokens: 15 }, cost },
];
const said = (id: string, content: string, more = {}): Row => [
  'message.created',
  { messageId: id, role: 'assistant' },
  { message: { id, content, metadata: {}, ...more } as never },
];
const committed = (id: string): Row => [
  'step.committed',
  { messageId: id, model: 'm', finishReason: 'stop' },
];
const types = (events: readonly TangleEvent[]) => events.map(({ type }) => type);

describe('a turn in Tangle’s format', () => {
  it('[TG-20] the text after the last start is the stored one: of a discarded attempt, an unstreamed answer, and one with gaps', () => {
    const lost: Row = ['attempt.discarded', { attempt: 1, call: 1, reason: 'WorkerLost' }];
    const piecesOf = (...rows: Row[]) =>
      readTangle(rowsOf(began, step(1), ...rows, said('a', 'Hello'), committed('a'), ended()))
        .filter(({ type }) => type.startsWith('message.'))
        .map((event) => (event.type === 'message.part.updated' ? event.data.delta : event.type));
    const first = 'message.started';
    expect(piecesOf(chunk('Hello'))).toEqual([first, 'Hello']);
    expect(piecesOf(chunk('Hello'), lost)).toEqual([first, 'Hello', 'message.discarded', 'Hello']);
    expect(piecesOf(chunk('Hel'), lost, chunk('Hello'))).toEqual([
      first,
      'Hel',
      'message.discarded',
      'Hello',
    ]);
    expect(piecesOf()).toEqual([first, 'Hello']);
    expect(piecesOf(chunk('Hel'))).toEqual([first, 'Hel', 'lo']);
    // A hook has changed the text.
    expect(piecesOf(chunk('Heaven'))).toEqual([first, 'Heaven', 'message.discarded', 'Hello']);
  });

  it('[TG-12] streams an answer in chunks', () => {
    expectGoldenTurn(
      'turn-answer',
      rowsOf(
        began,
        step(1),
        asked('m'),
        chunk('Hel'),
        chunk('lo'),
        answered(0.01),
        said('a', 'Hello'),
        committed('a'),
        ended(),
      ),
    );
  });

  it('[TG-12] has a call, a file, a question to a person, and the text after it', () => {
    const call = { id: 'c1', function: { name: 'pay', arguments: '{"amount":5}' } };
    const wait = { waitId: 'w1', kind: 'approval', name: 'pay', callId: 'c1' };
    expectGoldenTurn(
      'turn-calls',
      rowsOf(
        began,
        step(1),
        asked('m'),
        answered(),
        said('a', '', { tool_calls: JSON.stringify([call]) }),
        committed('a'),
        ['tool.called', { name: 'pay', callId: 'c1' }],
        ['wait.opened', { ...wait, summary: 'Pay 5?', expiresAt: null }],
        ['wait.answered', { ...wait, approved: true }],
        ['file.created', { path: '/receipts/1.txt', mimeType: 'text/plain', size: 4 }],
        said('r', 'paid'),
        ['tool.result', { name: 'pay', callId: 'c1', status: 'success' }],
        step(2),
        asked('m'),
        chunk('Of a sub-prompt', { depth: 1 }),
        chunk('Paid.'),
        answered(),
        said('b', 'Paid.'),
        committed('b'),
        ended(),
      ),
    );
  });

  it('[TG-13] has a failing model, the hop to the next one, and the failure of both', () => {
    expectGoldenTurn(
      'turn-failure',
      rowsOf(
        began,
        step(1),
        asked('first'),
        chunk('Half'),
        ['model.failed', { call: 1, code: 'server_error', message: 'It is overloaded.' }],
        ['attempt.discarded', { attempt: 1, call: 1, reason: 'server_error' }],
        asked('second'),
        ['model.failed', { call: 2, code: 'auth_error', message: 'Who are you?' }],
        ['step.failed', { code: 'auth_error', message: 'Who are you?' }],
        ended({ reason: 'failed', status: 'failed', error: { code: 'auth_error', message: 'Who are you?' } }),
      ),
    );
  });

  it('a retry of the same model is not a hop', () => {
    const events = readTangle(
      rowsOf(
        began,
        step(1),
        asked('m'),
        ['model.failed', { call: 1, code: 'timeout', retryInMs: 10 }],
        asked('m'),
        answered(),
        ended(),
      ),
    );
    expect(types(events)).not.toContain('model.fallback');
  });

  const begun: Row = ['value.changed', { key: 'everthread.turn.begun' }];
  const kept: Row = ['value.changed', { key: 'everthread.turn.kept' }];
  const fell: Row = ['hook.failed', { id: 'keep', hook: 'on_agent_end', error: 'the disk is full' }];
  it.each<[string, readonly Row[], string]>([
    ['kept', [begun, kept], 'execution.completed'],
    ['not kept', [begun, fell], 'execution.failed'],
    ['kept by another worker', [begun, begun, kept], 'execution.completed'],
    ['none that is kept, while another hook fails', [fell], 'execution.completed'],
  ])('[TG-14] a turn that is %s', (_, rows, last) => {
    const events = readTangle(rowsOf(began, step(1), said('a', 'Hi'), committed('a'), ...rows, ended()));
    expect(events.at(-1)?.type).toBe(last);
    const told =
      last === 'execution.failed'
        ? { message: 'the disk is full', code: 'TurnNotKept' }
        : { finalText: 'Hi' };
    expect(events.at(-2)?.data).toEqual(told);
  });

  it('is stopped if its thread is terminated, and failed if that failed', () => {
    const statusOf = (status: string) => readTangle(rowsOf(began, ended({ status }))).at(-1)?.data;
    expect(['terminated', 'stopped', 'failed'].map(statusOf)).toEqual([
      expect.objectContaining({ status: 'stopped' }),
      expect.objectContaining({ status: 'stopped' }),
      expect.objectContaining({ status: 'failed' }),
    ]);
  });

  it('has one last event, also if the thread is terminated, and no events between turns', () => {
    const events = readTangle(
      rowsOf(chunk('before'), began, step(1), ['thread.terminated', { reason: 'enough' }], chunk('behind')),
    );
    expect(types(events)).toEqual(['execution.started', 'message.started', 'error', 'execution.failed']);
    expect(events.at(-1)?.data).toMatchObject({ status: 'stopped', message: 'enough' });
  });
});
