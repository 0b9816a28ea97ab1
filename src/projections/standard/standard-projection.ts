/**
 * Projects the log as frames of the Standard Agents stream. Its clients have neither cursors nor replay: they keep rows
 * by id, replace a row by the whole row, and append pieces to rows that they have.
 * - The pending row of an answer is sent before its pieces, and the stored row, with the same id, replaces it.
 * - Discarded text is withdrawn by sending the pending row without text.
 * - An answer that never came leaves no pending row: its row is sent as failed.
 */

import type { EventKind, ThreadEvent, ThreadEventOf } from '../../core/event/thread-event.ts';
import { answerIdOf } from '../../core/message/answer-id.ts';
import { roleOf } from '../../core/thread/session.ts';
import type { LogRow, Projection } from '../projection.ts';
import { rowFrame, type StandardFrame, toStandardRow } from './standard-frame.ts';
import { answerFrame, type OpenAnswer, type StandardReading } from './standard-state.ts';

type StandardTransition = readonly [StandardReading, readonly StandardFrame[]];

/** Rows must have their messages also for `item.queued` and `message.updated`. */
export const projectStandard: Projection<StandardReading, StandardFrame> = (reading, row) => {
  const [next, frames] = handleRow(reading, row);
  return [next, [...frames, ...noteOf(row.event)]];
};

function handleRow(reading: StandardReading, { event, message }: LogRow): StandardTransition {
  switch (event.type) {
    case 'item.queued':
    case 'message.updated':
      return [reading, message ? [rowFrame(toStandardRow(message))] : []];
    case 'message.created':
      return [
        removeAnswer(reading, event.step, event.data.messageId),
        message ? [rowFrame(toStandardRow(message))] : [],
      ];
    case 'step.started':
      return event.step === undefined
        ? [reading, []]
        : [setAnswer(reading, event.step, beginAnswer(reading, event)), []];
    case 'model.chunk':
      return appendText(reading, event);
    case 'attempt.discarded':
      return withdrawText(reading, event);
    case 'step.committed':
      return [removeAnswer(reading, event.step), []];
    case 'step.failed':
    case 'execution.aborted':
      return failSteps(reading, event.step === undefined ? [] : [event.step]);
    case 'execution.ended': {
      const [next, failed] = failSteps(reading, Object.keys(reading.open).map(Number));
      const { status, error, reason } = event.data;
      return [
        next,
        status === 'failed' ? [...failed, { type: 'error', error: error?.message ?? reason }] : failed,
      ];
    }
    default:
      return [reading, []];
  }
}

function beginAnswer(
  { threadId }: StandardReading,
  { step = 0, at, data }: ThreadEventOf<'step.started'>,
): OpenAnswer {
  const { side = 'a', depth = 0 } = data;
  const role = depth > 0 ? 'assistant' : roleOf(side);
  return { id: answerIdOf(threadId, step), role, depth, at, text: null };
}

/** The pending row is sent before the first piece. */
function appendText(
  reading: StandardReading,
  { step, at, data }: ThreadEventOf<'model.chunk'>,
): StandardTransition {
  const { delta, depth = 0 } = data;
  if (step === undefined || delta === '') return [reading, []];
  const known = reading.open[step];
  const answer =
    known ?? ({ id: answerIdOf(reading.threadId, step), role: 'assistant', depth, at, text: null } as const);
  const before = answer.text === null ? [answerFrame(answer, { status: 'pending', content: null })] : [];
  const next = setAnswer(reading, step, { ...answer, text: (answer.text ?? '') + delta });
  return [
    next,
    [...before, { type: 'message_chunk', message_id: answer.id, depth: answer.depth, chunk: delta }],
  ];
}

/** Sends the pending row without text. */
function withdrawText(
  reading: StandardReading,
  { step }: ThreadEventOf<'attempt.discarded'>,
): StandardTransition {
  const answer = step === undefined ? undefined : reading.open[step];
  if (step === undefined || !answer?.text) return [reading, []];
  return [
    setAnswer(reading, step, { ...answer, text: '' }),
    [answerFrame(answer, { status: 'pending', content: null })],
  ];
}

/** Sends the rows of these steps as failed. */
function failSteps(reading: StandardReading, steps: readonly number[]): StandardTransition {
  const shown = steps.flatMap((step) => reading.open[step] ?? []).filter(({ text }) => text !== null);
  const open = Object.fromEntries(
    Object.entries(reading.open).filter(([step]) => !steps.includes(Number(step))),
  );
  return [
    { ...reading, open },
    shown.map((answer) => answerFrame(answer, { status: 'failed', content: null })),
  ];
}

function setAnswer(reading: StandardReading, step: number, answer: OpenAnswer): StandardReading {
  return { ...reading, open: { ...reading.open, [step]: answer } };
}

/** Removes the answer of a step; with `id`, the answer whose message has this id. */
function removeAnswer(reading: StandardReading, step: number | undefined, id?: string): StandardReading {
  const found = Object.entries(reading.open).find(([key, answer]) =>
    id === undefined ? Number(key) === step : answer.id === id,
  );
  if (!found) return reading;
  const { [Number(found[0])]: _, ...open } = reading.open;
  return { ...reading, open };
}

function noteOf(event: ThreadEvent): readonly StandardFrame[] {
  // The note is looked up by the type of the event, so the cast is safe.
  const note = NOTES[event.type] as ((event: ThreadEvent) => readonly [string, unknown]) | undefined;
  if (!note) return [];
  const [eventType, data] = note(event);
  return [{ type: 'event', eventType, data, timestamp: Math.floor(event.at / 1000) }];
}

/** The name of an event, and its data. */
type Note = readonly [eventType: string, data: unknown];

type Notes = { readonly [Kind in EventKind]?: (event: ThreadEventOf<Kind>) => Note };

const DIRECTORY = 'inode/directory';

function fileOf({ path, mimeType, size }: { path: string; mimeType: string; size: number }) {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return { path, file: { path, name, mimeType, size, isDirectory: mimeType === DIRECTORY } };
}

const effectNote =
  (status: string) =>
  ({ data: { id, name } }: { readonly data: { readonly id: string; readonly name: string } }): Note => [
    'effect_changed',
    { id, name, status },
  ];

/** Rows that are not about messages, as events of the stream; with the standard's event names if it has one. */
const NOTES: Notes = {
  'tool.started': ({ data: { callId: id, name } }) => ['tool_call_started', { id, name }],
  'tool.result': ({ data: { callId: id, name, status } }) => ['tool_call_done', { id, name, status }],
  'tool.unknown': ({ data: { callId: id, name, status } }) => ['tool_call_done', { id, name, status }],
  'file.created': ({ data }) => ['file_created', fileOf(data)],
  'file.updated': ({ data }) => ['file_updated', fileOf(data)],
  'file.deleted': ({ data: { path } }) => ['file_deleted', { path }],
  'value.changed': ({ at, data: { key } }) => ['kv_changed', { key, updated_at: at }],
  'message.deleted': ({ data: { messageId: id } }) => ['message_deleted', { id }],
  'effect.scheduled': effectNote('scheduled'),
  'effect.started': effectNote('running'),
  'effect.done': effectNote('done'),
  'effect.failed': effectNote('failed'),
  'effect.cancelled': effectNote('canceled'),
  'wait.opened': ({ data }) => ['wait_opened', data],
  'wait.answered': ({ data }) => ['wait_answered', data],
  'wait.closed': ({ data }) => ['wait_closed', data],
  'thread.status': ({ data }) => ['thread_status', data],
  custom: ({ data: { event, data } }) => [event, data],
};
