/** The log as the AI SDK's UI message stream, in its three dialects: a pure function of its rows. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { projectChat } from '../../src/projections/ai-sdk/chat-projection.ts';
import { beginChat } from '../../src/projections/ai-sdk/chat-state.ts';
import { UI_DIALECTS, type UiChunk, type UiDialect } from '../../src/projections/ai-sdk/ui-chunk.ts';
import type { LogRow } from '../../src/projections/projection.ts';
import { rowsOf } from './row.ts';

function readChat(rows: readonly LogRow[], dialect: UiDialect = 6): UiChunk[] {
  let reading = beginChat(dialect);
  return rows.flatMap((row) => {
    const [next, chunks] = projectChat(reading, row);
    reading = next;
    return chunks;
  });
}

type Row = readonly [type: string, data: object, more?: Partial<LogRow> & { step?: number }];
const began: Row = ['execution.started', { executionId: 'execution-1' }];
const ended = (more = {}): Row => [
  'execution.ended',
  { executionId: 'execution-1', reason: 'stop_on_response', ...more },
];
const step = (n: number): Row => ['step.started', {}, { step: n }];
const chunk = (n: number, delta: string, call = 1): Row => ['model.chunk', { delta, call }, { step: n }];
const message = (id: string, role: string, content: string | null, more = {}): Row => [
  'message.created',
  { messageId: id, role },
  { message: { id, content, silent: false, metadata: {}, ...more } as never },
];
const answered = (n: number, id: string, content: string | null, more = {}): readonly Row[] => [
  message(id, 'assistant', content, more),
  ['step.committed', { messageId: id, model: 'm', finishReason: 'stop' }, { step: n }],
];
const calling = (...calls: readonly (readonly [id: string, name: string, args: string])[]) => ({
  tool_calls: JSON.stringify(calls.map(([id, name, args]) => ({ id, function: { name, arguments: args } }))),
});
const called = (id: string, name: string): Row => ['tool.called', { name, callId: id }];
const result = (id: string, name: string, content: string, status = 'success'): readonly Row[] => [
  message(`r-${id}`, 'tool', content),
  ['tool.result', { name, callId: id, status }],
];
const wait = { waitId: 'wait-1', kind: 'approval', name: 'pay', callId: 'c1' };

/** Every kind of row that a chat reports. */
const WHOLE = rowsOf(
  message('u-1', 'user', 'pay, then look'),
  began,
  ['thread.status', { status: 'running' }],
  step(1),
  chunk(1, 'Wro'),
  ['attempt.discarded', { attempt: 1, call: 1, reason: 'ModelUnavailable' }, { step: 1 }],
  chunk(1, 'Pay', 2),
  chunk(1, 'ing', 2),
  ...answered(1, 'a-1', 'Paying', calling(['c1', 'pay', '{"amount":5}'], ['c2', 'look', '{}'])),
  called('c1', 'pay'),
  called('c2', 'look'),
  ['wait.opened', { ...wait, summary: 'pays 5', expiresAt: null }],
  ['thread.status', { status: 'waiting' }],
  ['wait.answered', { ...wait, approved: false }],
  ['thread.status', { status: 'running' }],
  ...result('c1', 'pay', 'denied', 'error'),
  ['tool.started', { name: 'look', callId: 'c2' }],
  ['file.created', { path: '/a.txt', mimeType: 'text/plain', size: 3 }],
  ...result('c2', 'look', 'seen'),
  step(2),
  message('u-2', 'user', 'hurry'),
  ...answered(2, 'a-2', 'Done'),
  ended(),
);

describe('a chat in the AI SDK’s format', () => {
  it('ends with content-filter if the provider’s filter cut its last answer', () => {
    const cut: Row = [
      'step.committed',
      { messageId: 'a-1', model: 'm', finishReason: 'content_filter' },
      { step: 1 },
    ];
    const told = readChat(rowsOf(began, step(1), message('a-1', 'assistant', 'Hel'), cut, ended()));
    expect(told.at(-1)).toEqual({ type: 'finish', finishReason: 'content-filter' });
  });

  it.each(UI_DIALECTS)('equals its golden file in dialect %i', (dialect) => {
    const path = join(import.meta.dirname, 'golden', `chat-${dialect}.json`);
    const told = readChat(WHOLE, dialect);
    if (process.env.EVERTHREAD_WRITE_GOLDEN) writeFileSync(path, `${JSON.stringify(told, null, 2)}\n`);
    expect(told).toEqual(JSON.parse(readFileSync(path, 'utf8')));
  });

  it('omits types that version 5 or 6 cannot read', () => {
    const types = (dialect: UiDialect) => new Set(readChat(WHOLE, dialect).map(({ type }) => type));
    for (const type of ['reset-step', 'steering-message']) {
      expect([...types(7)]).toContain(type);
      expect([...types(6)]).not.toContain(type);
    }
    for (const type of ['tool-approval-request', 'tool-output-denied', 'reset-step', 'steering-message'])
      expect([...types(5)]).not.toContain(type);
  });

  it('has the committed text, even if some or all of its chunks are pruned', () => {
    const texts = (...rows: readonly Row[]) =>
      readChat(rowsOf(began, step(1), ...rows, ...answered(1, 'a', 'Hello you'), ended()))
        .filter(({ type }) => type.startsWith('text-'))
        .map((each) => ('delta' in each ? each.delta : each.type));
    expect(texts(chunk(1, 'Hello'), chunk(1, ' you'))).toEqual(['text-start', 'Hello', ' you', 'text-end']);
    expect(texts(chunk(1, 'Hello'))).toEqual(['text-start', 'Hello', ' you', 'text-end']);
    expect(texts()).toEqual(['text-start', 'Hello you', 'text-end']);
    // A hook has changed the text.
    expect(texts(chunk(1, 'Bye'))).toEqual([
      'text-start',
      'Bye',
      'text-end',
      'text-start',
      'Hello you',
      'text-end',
    ]);
  });

  it('ends a failed execution with its error, a stopped one as aborted, and sends nothing between executions', () => {
    const open = [began, step(1), chunk(1, 'He')] as const;
    const last = (more: object) =>
      readChat(rowsOf(...open, ended(more), message('u', 'user', 'x'))).slice(-4);
    expect(last({ status: 'failed', error: { code: 'ModelFailed', message: 'No answer.' } })).toEqual([
      { type: 'text-end', id: '1.1.1' },
      { type: 'finish-step' },
      { type: 'error', errorText: 'No answer.' },
      { type: 'finish', finishReason: 'error' },
    ]);
    expect(last({ status: 'stopped', reason: 'canceled', cancelReason: 'enough' }).slice(-1)).toEqual([
      { type: 'abort', reason: 'enough' },
    ]);
  });
});
