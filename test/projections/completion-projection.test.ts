/** The log as OpenAI's Chat Completions, streamed and whole: a pure function of its rows. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { CompletionOutput } from '../../src/projections/openai/completion-chunk.ts';
import {
  endAtWait,
  joinCompletion,
  projectCompletion,
} from '../../src/projections/openai/completion-projection.ts';
import { beginCompletion, type CompletionReading } from '../../src/projections/openai/completion-state.ts';
import type { LogRow } from '../../src/projections/projection.ts';
import { type Row, rowsOf } from './row.ts';

function readFrom(
  begin: CompletionReading,
  rows: readonly LogRow[],
): [CompletionReading, CompletionOutput[]] {
  let reading = begin;
  const told = rows.flatMap((row) => {
    const [next, chunks] = projectCompletion(reading, row);
    reading = next;
    return chunks;
  });
  return [reading, told];
}
const readRows = (rows: readonly LogRow[], whole = false) =>
  readFrom(beginCompletion({ model: 'desk', whole, threadId: 't' }), rows)[1];

/** The text that a reader assembles, then the texts that it is told to discard. */
function textOf(chunks: readonly CompletionOutput[]): readonly [string, ...string[]] {
  const told = chunks.flatMap((chunk) => ('choices' in chunk ? chunk : []));
  const text = told.flatMap(({ choices }) => choices.map(({ delta }) => delta.content ?? '')).join('');
  return [text, ...told.flatMap(({ everthread }) => (everthread ? [everthread.discarded] : []))];
}

const began: Row = ['execution.started', { executionId: 'e-1' }];
const ended = (more = {}): Row => [
  'execution.ended',
  { executionId: 'e-1', reason: 'stop_on_response', ...more },
];
const step = (n: number): Row => ['step.started', {}, { step: n }];
const chunk = (n: number, delta: string, call = 1): Row => ['model.chunk', { delta, call }, { step: n }];
const discarded = (n: number, call = 1): Row => [
  'attempt.discarded',
  { attempt: 1, call, reason: 'WorkerLost' },
  { step: n },
];
const message = (id: string, content: string): Row => [
  'message.created',
  { messageId: id, role: 'assistant' },
  { message: { id, content, metadata: {} } as never },
];
const committed = (n: number, content: string): readonly Row[] => [
  message(`a-${n}`, content),
  ['step.committed', { messageId: `a-${n}`, model: 'm', finishReason: 'stop' }, { step: n }],
];
const used = (promptTokens: number, completionTokens: number): Row => [
  'model.answered',
  {
    call: 1,
    cost: null,
    usage: { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens },
  },
];
const wait = { waitId: 'w-1', kind: 'approval', name: 'pay', callId: 'c1' };

/** Every kind of row that a completion reports. */
const WHOLE = rowsOf(
  began,
  ['thread.status', { status: 'running' }],
  step(1),
  chunk(1, 'Pa'),
  chunk(1, 'id'),
  discarded(1),
  chunk(1, 'Pay', 2),
  chunk(1, 'ing', 2),
  used(10, 2),
  ...committed(1, 'Paying'),
  ['wait.opened', { ...wait, summary: 'pays 5', expiresAt: null }],
  ['thread.status', { status: 'waiting' }],
  ['wait.answered', { ...wait, approved: true }],
  ['thread.status', { status: 'running' }],
  step(2),
  ['model.chunk', { delta: 'aside', call: 1, depth: 1 }, { step: 3 }],
  chunk(2, 'Do'),
  used(20, 1),
  ...committed(2, 'Done'),
  ended(),
  message('u-9', 'later'),
);

describe('a completion in OpenAI’s format', () => {
  it('ends with content_filter if the provider’s filter cut its last answer, and not an earlier one', () => {
    const endOf = (...reasons: readonly string[]) => {
      const steps = reasons.flatMap((finishReason, n) => [
        step(n + 1),
        message(`a-${n}`, 'Hel'),
        ['step.committed', { messageId: `a-${n}`, model: 'm', finishReason }, { step: n + 1 }] as const,
      ]);
      const chunks = readRows(rowsOf(began, ...steps, ended()));
      return chunks.flatMap((out) => ('choices' in out ? out.choices : [])).at(-1)?.finish_reason;
    };
    expect(endOf('content_filter')).toBe('content_filter');
    expect(endOf('content_filter', 'stop')).toBe('stop');
  });

  it.each(['stream', 'whole'] as const)('equals its golden file: %s', (form) => {
    const path = join(import.meta.dirname, 'golden', `completion-${form}.json`);
    const told = readRows(WHOLE, form === 'whole');
    if (process.env.EVERTHREAD_WRITE_GOLDEN) writeFileSync(path, `${JSON.stringify(told, null, 2)}\n`);
    expect(told).toEqual(JSON.parse(readFileSync(path, 'utf8')));
  });

  it('a repeated answer is sent once; a different one names the discarded text', () => {
    const texts = (...rows: readonly Row[]) =>
      textOf(readRows(rowsOf(began, step(1), ...rows, ...committed(1, 'Hello you'), ended())));
    expect(texts(chunk(1, 'Hello'), chunk(1, ' you'))).toEqual(['Hello you']);
    expect(texts(chunk(1, 'Hello'), discarded(1), chunk(1, 'Hel', 2), chunk(1, 'lo you', 2))).toEqual([
      'Hello you',
    ]);
    expect(texts(chunk(1, 'Hello'), discarded(1))).toEqual(['Hello you']);
    expect(texts()).toEqual(['Hello you']);
    expect(texts(chunk(1, 'Hallo'), discarded(1), chunk(1, 'Hello', 2))).toEqual([
      'Hallo\n\nHello you',
      'Hallo',
    ]);
    // A hook has changed or shortened the text.
    expect(texts(chunk(1, 'Hello you, too'))).toEqual(['Hello you, too\n\nHello you', 'Hello you, too']);
  });

  it('without streaming has the committed text, whatever was streamed before', () => {
    const rows = [chunk(1, 'Wrong'), discarded(1), chunk(1, 'Ri', 2), ...committed(1, 'Right')] as const;
    expect(textOf(readRows(rowsOf(began, step(1), ...rows, ended()), true))).toEqual(['Right']);
    const stopped: readonly Row[] = [
      message('a-1', 'Half a'),
      ['execution.aborted', { keptText: true }, { step: 1 }],
    ];
    expect(textOf(readRows(rowsOf(began, step(1), chunk(1, 'Half a'), ...stopped, ended()), true))).toEqual([
      'Half a',
    ]);
  });

  it('ends as failed, as truncated by a limit, or with open waits', () => {
    const last = (more: object) => readRows(rowsOf(began, ended(more)));
    const error = { code: 'BudgetExceeded', message: 'Too dear.' };
    expect(last({ status: 'failed', error }).at(-1)).toEqual({ failed: error });
    const finish = (more: object) =>
      last(more).flatMap((each) => ('choices' in each ? each.choices.map((c) => c.finish_reason) : []));
    expect(finish({ reason: 'max_side_steps' })).toEqual([null, 'length']);
    expect(finish({ status: 'stopped', reason: 'canceled' })).toEqual([null, 'stop']);
    const asks = rowsOf(
      began,
      ...committed(1, 'Paying'),
      ['wait.opened', { ...wait, summary: 'pays 5', expiresAt: null }],
      ['wait.opened', { ...wait, waitId: 'w-0', summary: 'pays 4', expiresAt: null }],
      ['wait.closed', { ...wait, waitId: 'w-0', reason: 'expired' }],
      ['thread.status', { status: 'waiting' }],
    );
    const [reading] = readFrom(beginCompletion({ model: 'desk', whole: false, threadId: 't' }), asks);
    const [text] = textOf(endAtWait(reading));
    expect(text).toContain('approval of pay: pays 5 (wait w-1)');
    expect(text).not.toContain('w-0');
  });

  it('a message that joins an execution is answered by a separate completion', () => {
    const [reading] = readFrom(
      beginCompletion({ model: 'desk', whole: false, threadId: 't' }),
      rowsOf(began, ...committed(1, 'Before')),
    );
    const [, told] = readFrom(joinCompletion(reading, 7), rowsOf(...committed(2, 'After'), ended()));
    expect(textOf(told)).toEqual(['After']);
    expect(told[0]).toMatchObject({ id: 'chatcmpl-e-1.7' });
  });
});
