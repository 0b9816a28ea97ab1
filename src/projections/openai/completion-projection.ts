/**
 * Projects the log as OpenAI's Chat Completions. It may begin at the start of any execution, which is one completion.
 * O1. A completion ends once: with a finish reason and the chunk of its usage, or as failed.
 * O2. Nothing that happens between executions is emitted. Nor are the agent's own calls: a client must answer each call
 *     that it receives, so it receives only those of its own tools (completion-calls.ts).
 */
import type { EventData } from '../../core/event/event-data.ts';
import type { EventKind, ThreadEvent, ThreadEventOf } from '../../core/event/thread-event.ts';
import type { StoredError } from '../../core/thread/step.ts';
import { isUsedUp } from '../../core/thread/step-limit.ts';
import type { LogRow, Projection } from '../projection.ts';
import { toRowMessage } from '../row-message.ts';
import { callsOf, closeClientWait, openClientWait, withCalls, withoutCall } from './completion-calls.ts';
import type {
  CompletionChunk,
  CompletionDelta,
  CompletionFinish,
  CompletionOutput,
} from './completion-chunk.ts';
import { type CompletionReading, type OpenCompletion, openCompletion } from './completion-state.ts';
import {
  commitText,
  handleChunk,
  paragraph,
  type TextPiece,
  type TextTransition,
} from './completion-text.ts';
import { addUsage } from './completion-usage.ts';
import { closeWait, openWait } from './completion-waits.ts';

type Handlers = {
  readonly [Kind in EventKind]?: (
    open: OpenCompletion,
    event: ThreadEventOf<Kind>,
    whole: boolean,
  ) => TextTransition;
};

const HANDLERS: Handlers = {
  'model.chunk': (open, event, whole) => (whole ? [open, []] : handleChunk(open, event)),
  'attempt.discarded': (open, { data: { depth } }) =>
    depth === undefined ? [{ ...open, attempt: null }, []] : [open, []],
  'step.committed': (open, { data: { messageId, depth, finishReason } }) =>
    depth === undefined
      ? commitText({ ...open, filtered: finishReason === 'content_filter' }, contentOf(open, messageId))
      : [open, []],
  // If text was kept, it is the message before this row.
  'execution.aborted': (open, { data: { keptText, depth } }) =>
    depth === undefined
      ? commitText(open, keptText ? contentOf(open, open.said?.id) : open.told)
      : [open, []],
  'model.answered': (open, { data: { usage } }) => [{ ...open, usage: addUsage(open.usage, usage) }, []],
  'tool.result': (open, { data: { callId } }) => [withoutCall(open, callId), []],
  'tool.unknown': (open, { data: { callId } }) => [withoutCall(open, callId), []],
  'wait.opened': (open, { data }) => [openClientWait(open, data) ?? openWait(open, data), []],
  'wait.answered': (open, { data }) => [closeClientWait(closeWait(open, data), data), []],
  'wait.closed': (open, { data }) => [closeClientWait(closeWait(open, data), data), []],
  'thread.status': (open, { data: { status } }) => [{ ...open, waiting: status === 'waiting' }, []],
};

export const projectCompletion: Projection<CompletionReading, CompletionOutput> = (reading, row) => {
  const { event } = row;
  if (event.type === 'execution.started') {
    const next = { ...reading, open: openCompletion(event.data.executionId, event.at) };
    return [next, openingChunks(next)];
  }
  // Also between executions: the next answer is of the new agent.
  if (event.type === 'thread.agent') return [{ ...reading, model: event.data.to }, []];
  const { open } = reading;
  // O2: between executions.
  if (!open) return [reading, []];
  // O1: the last chunks of the completion.
  if (event.type === 'execution.ended')
    return [{ ...reading, open: null }, endChunks(reading, open, event.data)];
  const [next, pieces] = handle(open, row, reading);
  const after = { ...reading, open: next };
  return [after, pieces.map((piece) => toChunk(after, piece))];
};

function handle(
  open: OpenCompletion,
  { event, message }: LogRow,
  { whole, threadId }: CompletionReading,
): TextTransition {
  if (event.type === 'message.created') {
    const said = toRowMessage(event.data.messageId, message);
    return [withCalls({ ...open, said }, message, { threadId, step: event.step ?? 0 }), []];
  }
  // The handler is looked up by the type of the event, so the cast is safe.
  const handler = HANDLERS[event.type] as
    | ((open: OpenCompletion, event: ThreadEvent, whole: boolean) => TextTransition)
    | undefined;
  return handler ? handler(open, event, whole) : [open, []];
}

function contentOf({ said }: OpenCompletion, messageId: string | undefined): string {
  return (said?.id === messageId ? said?.content : null) ?? '';
}

/** Begins a new answer within the execution: to a message that joined it at row `seq`, or that has yet to join it. */
export function joinCompletion(reading: CompletionReading, seq?: number): CompletionReading {
  if (!reading.open) return reading;
  const id = seq === undefined ? reading.open.id : `${reading.open.id}.${seq}`;
  return { ...reading, open: { ...reading.open, id, told: '', begun: false } };
}

/** The first chunk, emitted before any text. */
export function openingChunks(reading: CompletionReading): readonly CompletionOutput[] {
  return [chunkOf(reading, { role: 'assistant', content: '' })];
}

/** Ends an answer that waits for people. Its text lists the waits, because a completion has no other place for them. */
export function endAtWait(reading: CompletionReading): readonly CompletionOutput[] {
  const { open } = reading;
  if (!open) return [];
  // The client's next request has the results of its calls.
  const calls = callsOf(open);
  if (calls.length > 0)
    return [
      ...calls.map((call) => chunkOf(reading, { tool_calls: [call] })),
      ...closingChunks(reading, 'tool_calls'),
    ];
  const asked = Object.values(open.waits).map((each) => `- ${each}`);
  const text = [
    `This answer is waiting for input${asked.length > 0 ? ':' : '.'}`,
    ...asked,
    'Send the same request again to read the rest.',
  ].join('\n');
  return [chunkOf(reading, { content: paragraph(open, text) }), ...closingChunks(reading, 'stop')];
}

function endChunks(
  reading: CompletionReading,
  { filtered }: OpenCompletion,
  end: EventData['execution.ended'],
): readonly CompletionOutput[] {
  const { status = 'idle', reason, error } = end;
  if (status === 'failed') return [{ failed: error ?? executionFailure(reason) }];
  if (isUsedUp({ reason, error })) return closingChunks(reading, 'length');
  return closingChunks(reading, filtered ? 'content_filter' : 'stop');
}

function executionFailure(reason: string): StoredError {
  return { code: 'ExecutionFailed', message: `The agent could not answer: ${reason}.` };
}

function closingChunks(reading: CompletionReading, finish: CompletionFinish): readonly CompletionOutput[] {
  const { open } = reading;
  if (!open) return [];
  const usage = { ...chunkOf(reading, {}), choices: [], usage: open.usage };
  return [chunkOf(reading, {}, finish), usage];
}

function toChunk(reading: CompletionReading, { text, discarded }: TextPiece): CompletionChunk {
  const chunk = chunkOf(reading, { content: text });
  return discarded === undefined ? chunk : { ...chunk, everthread: { discarded } };
}

function chunkOf(
  { open, model }: CompletionReading,
  delta: CompletionDelta,
  finish: CompletionFinish | null = null,
): CompletionChunk {
  return {
    id: open?.id ?? '',
    object: 'chat.completion.chunk',
    created: open?.created ?? 0,
    model,
    choices: [{ index: 0, delta, finish_reason: finish }],
  };
}
