/** The log as frames of Standard Agents' stream: a pure function of its rows. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { answerIdOf } from '../../src/core/message/answer-id.ts';
import type { Message } from '../../src/core/message/message.ts';
import { isItemId } from '../../src/core/thread/item.ts';
import type { LogRow } from '../../src/projections/projection.ts';
import { isAskedFor, type StandardFrame } from '../../src/projections/standard/standard-frame.ts';
import { projectStandard } from '../../src/projections/standard/standard-projection.ts';
import { beginStandard, openFrames } from '../../src/projections/standard/standard-state.ts';
import { rowsOf } from './row.ts';

function read(rows: readonly LogRow[]) {
  let reading = beginStandard('thread-1');
  const frames: StandardFrame[] = rows.flatMap((row) => {
    const [next, told] = projectStandard(reading, row);
    reading = next;
    return told;
  });
  return { reading, frames };
}

const stored = (
  id: string,
  role: Message['role'],
  content: string | null,
  more: Partial<Message> = {},
): Message => ({
  ...{ id, role, content, name: null, tool_calls: null, tool_call_id: null, created_at: 1, parent_id: null },
  ...{ depth: 0, silent: false, metadata: {}, attachments: null, status: 'completed', tool_status: null },
  ...more,
});
type Row = readonly [type: string, data: object, more?: Partial<LogRow> & { step?: number }];
const message = (kind: string, row: Message): Row => [
  kind,
  { messageId: row.id, role: row.role },
  { message: row },
];
const step = (n: number, data = {}): Row => ['step.started', data, { step: n }];
const chunk = (n: number, delta: string, data = {}): Row => [
  'model.chunk',
  { delta, call: 1, ...data },
  { step: n },
];
const discarded = (n: number): Row => [
  'attempt.discarded',
  { attempt: 1, call: 1, reason: 'WorkerLost' },
  { step: n },
];
const [one, two] = [1, 2].map((n) => answerIdOf('thread-1', n)) as [string, string];

const WHOLE = rowsOf(
  [
    'item.queued',
    { id: 'u-1', kind: 'message' },
    { message: stored('u-1', 'user', 'hi', { status: 'pending' }) },
  ],
  ['execution.started', { executionId: 'execution-1' }],
  message('message.created', stored('u-1', 'user', 'hi')),
  step(1),
  chunk(1, 'Wro'),
  discarded(1),
  chunk(1, 'I '),
  chunk(1, 'look.'),
  message('message.created', stored(one, 'assistant', 'I look.')),
  ['step.committed', { messageId: one, model: 'm', finishReason: 'tool_calls' }, { step: 1 }],
  ['tool.started', { name: 'look', callId: 'c1' }],
  ['file.created', { path: '/docs/a.txt', mimeType: 'text/plain', size: 3 }],
  message('message.created', stored('r-1', 'tool', 'seen', { name: 'look', tool_status: 'success' })),
  ['tool.result', { name: 'look', callId: 'c1', status: 'success' }],
  ['custom', { event: 'progress', data: { done: 1 } }],
  message('message.updated', stored('u-1', 'user', 'hi!')),
  ['message.deleted', { messageId: 'x', role: 'user' }],
  step(2),
  chunk(2, 'Half'),
  ['step.failed', { code: 'ModelFailed', message: 'No answer.' }, { step: 2 }],
  [
    'execution.ended',
    {
      executionId: 'execution-1',
      reason: 'failed',
      status: 'failed',
      error: { code: 'ModelFailed', message: 'No answer.' },
    },
  ],
);

describe('a thread in Standard Agents’ format', () => {
  it('equals its golden file', () => {
    const path = join(import.meta.dirname, 'golden', 'standard.json');
    const { frames } = read(WHOLE);
    if (process.env.EVERTHREAD_WRITE_GOLDEN) writeFileSync(path, `${JSON.stringify(frames, null, 2)}\n`);
    expect(frames).toEqual(JSON.parse(readFileSync(path, 'utf8')));
  });

  it('a reader that joins late has the text so far, and no row stays pending after its execution', () => {
    for (let n = 0; n <= WHOLE.length; n += 1) {
      const { reading } = read(WHOLE.slice(0, n));
      const rows = new Map<string, string | null>();
      for (const frame of [...read(WHOLE.slice(0, n)).frames])
        if (frame.type === 'message_data') rows.set(frame.message_id, frame.data.content);
        else if (frame.type === 'message_chunk')
          rows.set(frame.message_id, (rows.get(frame.message_id) ?? '') + frame.chunk);
      for (const frame of openFrames(reading))
        if (frame.type === 'message_data')
          expect([n, frame.data.content]).toEqual([n, rows.get(frame.message_id)]);
    }
    expect(read(WHOLE).reading.open).toEqual({});
    expect(read(WHOLE).frames.findLast((frame) => frame.type === 'message_data')).toMatchObject({
      message_id: two,
      data: { status: 'failed', content: null },
    });
  });

  it('rows not requested are omitted: silent ones, and those of sub-prompts below the depth', () => {
    const { frames } = read(
      rowsOf(
        message('message.created', stored('s', 'user', 'psst', { silent: true })),
        step(3, { depth: 1 }),
        chunk(3, 'deep', { depth: 1 }),
      ),
    );
    const told = (includeSilent: boolean, depth: number) =>
      frames.filter((frame) => isAskedFor(frame, { includeSilent, depth })).map(({ type }) => type);
    expect(told(false, 0)).toEqual([]);
    expect(told(true, 0)).toEqual(['message_data']);
    expect(told(false, 1)).toEqual(['message_data', 'message_chunk']);
  });

  it('a sent item cannot take the id of an answer', () => {
    expect(isItemId(one)).toBe(false);
    expect(isItemId('answer-1')).toBe(true);
    expect(one).not.toBe(answerIdOf('thread-2', 1));
  });
});
