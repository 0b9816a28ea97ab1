/**
 * Projects the log as OpenAI's Chat Completions. It may begin at the start of any execution, which is one completion.
 * - A completion ends once: with a finish reason and the chunk of its usage, or as failed.
 * - Nothing that happens between executions is emitted. Nor are the agent's own calls: a client must answer each call
 *   that it receives, so it receives only those of its own tools.
 *
 * A client parses an answer that has a type, and cannot be told that text was void: it receives the answer that fits, and nothing before.
 *
 * The emitted text of an answer. What a reader has of a step is the beginning of the committed text, or a chunk names
 * the part that is void.
 * - A repeated request is assumed to repeat its text, so only text that is longer or different is emitted.
 * - Emitted text is never withdrawn: its replacement is a separate paragraph, and the chunk names what it replaces.
 * - Texts of several steps are paragraphs of one answer.
 */

import type { EventData } from '../../core/event/event-data.ts';
import type { NamedWait } from '../../core/event/event-shape.ts';
import type { EventKind, ThreadEvent, ThreadEventOf } from '../../core/event/thread-event.ts';
import type { Message } from '../../core/message/message.ts';
import type { ProviderUsage } from '../../core/message/provider.ts';
import { type ClientCallPlace, clientCallId } from '../../core/project/client-call-id.ts';
import { parseClientToolName } from '../../core/project/client-tool.ts';
import type { StoredError } from '../../core/thread/step.ts';
import { isUsedUp } from '../../core/thread/step-limit.ts';
import type { WaitKind } from '../../core/wait/wait.ts';
import type { LogRow, Projection } from '../projection.ts';
import { callsOf as callsWritten, toRowMessage } from '../row-message.ts';
import type {
  CompletionCall,
  CompletionChunk,
  CompletionDelta,
  CompletionFinish,
  CompletionOutput,
  CompletionUsage,
} from './completion-chunk.ts';
import { type CompletionReading, type OpenCompletion, openCompletion } from './completion-state.ts';

type Handlers = {
  readonly [Kind in EventKind]?: (
    open: OpenCompletion,
    event: ThreadEventOf<Kind>,
    whole: boolean,
  ) => TextTransition;
};

const HANDLERS: Handlers = {
  'model.chunk': (open, event, whole) => (whole || open.typed ? [open, []] : handleChunk(open, event)),
  'attempt.discarded': (open, { data: { depth } }) =>
    depth === undefined ? [{ ...open, attempt: null }, []] : [open, []],
  'step.committed': (open, { data: { messageId, depth, finishReason, typed = false } }) => {
    if (depth !== undefined) return [open, []];
    const content = contentOf(open, messageId);
    const next = { ...open, filtered: finishReason === 'content_filter' };
    if (!open.typed) return commitText(next, content);
    return [typed || !open.fits ? { ...next, held: content, fits: typed } : next, []];
  },
  // If text was kept, it is the message before this row.
  'execution.aborted': (open, { data: { keptText, depth } }) =>
    depth === undefined && !open.typed
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
    const { executionId, typed } = event.data;
    const next = { ...reading, open: openCompletion(executionId, event.at, typed || reading.parsed) };
    return [next, openingChunks(next)];
  }
  // Also between executions: the next answer is of the new agent.
  if (event.type === 'thread.agent') return [{ ...reading, model: event.data.to }, []];
  const { open } = reading;
  if (!open) return [reading, []];
  // The last chunks of the completion.
  if (event.type === 'execution.ended') {
    return [{ ...reading, open: null }, endChunks(reading, open, event.data)];
  }
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
  return { ...reading, open: { ...reading.open, id, told: '', begun: false, held: '', fits: false } };
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
  if (reading.parsed) return [{ failed: { code: 'InputRequired', message: text } }];
  return [chunkOf(reading, { content: paragraph(open, text) }), ...closingChunks(reading, 'stop')];
}

function endChunks(
  reading: CompletionReading,
  { filtered, held, fits }: OpenCompletion,
  end: EventData['execution.ended'],
): readonly CompletionOutput[] {
  const { status = 'idle', reason, error } = end;
  if (status === 'failed') return [{ failed: error ?? executionFailure(reason) }];
  const isTold = held !== '' && (fits || (status === 'idle' && !reading.parsed));
  const text = isTold ? [toChunk(reading, { text: held })] : [];
  if (isUsedUp({ reason, error })) return [...text, ...closingChunks(reading, 'length')];
  if (reading.parsed && !fits) return [{ failed: untyped(reason) }];
  return [...text, ...closingChunks(reading, filtered ? 'content_filter' : 'stop')];
}

/** For a client that would parse what it receives. */
function untyped(reason: string): StoredError {
  return {
    code: 'OutputInvalid',
    message: `The execution ended (${reason}) without an answer that fits "response_format".`,
  };
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

/**
 * Calls of tools that the client runs itself. All that have no result are emitted at the end of a completion, and the
 * client's next request has their results. Adds the client's calls of an answer.
 */
function withCalls(
  open: OpenCompletion,
  message: Message | null | undefined,
  place: Omit<ClientCallPlace, 'callId'>,
): OpenCompletion {
  if (message?.role !== 'assistant') return open;
  const called = callsWritten(message).flatMap(({ id: callId, function: { name, arguments: given } }) => {
    const ofClient = parseClientToolName(name);
    if (ofClient === undefined) return [];
    const call = { name: ofClient, arguments: given };
    return [[callId, { id: clientCallId({ ...place, callId }), function: call }] as const];
  });
  return called.length > 0 ? { ...open, calls: { ...open.calls, ...Object.fromEntries(called) } } : open;
}

function withoutCall(open: OpenCompletion, callId: string): OpenCompletion {
  if (!(callId in open.calls)) return open;
  const { [callId]: _, ...calls } = open.calls;
  return { ...open, calls };
}

/** Undefined if the wait is not for the client. People, not the client, approve calls of its tools. */
function openClientWait(
  open: OpenCompletion,
  { waitId, kind, name, callId }: EventData['wait.opened'],
): OpenCompletion | undefined {
  if (kind !== 'question' || parseClientToolName(name) === undefined) return undefined;
  if (callId === undefined || !(callId in open.calls)) return undefined;
  return { ...open, clientWaits: { ...open.clientWaits, [waitId]: callId } };
}

function closeClientWait(open: OpenCompletion, { waitId }: NamedWait): OpenCompletion {
  const { [waitId]: closed, ...clientWaits } = open.clientWaits;
  return closed === undefined ? open : { ...open, clientWaits };
}

/** Returns the calls that the client must run; none if the client is not waited for. */
function callsOf({ calls, clientWaits }: OpenCompletion): readonly CompletionCall[] {
  if (Object.keys(clientWaits).length === 0) return [];
  return Object.values(calls).map((call, index) => ({ index, type: 'function', ...call }));
}

/** Text to emit; `discarded`: text that was emitted before and is void. */
interface TextPiece {
  readonly text: string;
  readonly discarded?: string;
}

type TextTransition = readonly [OpenCompletion, readonly TextPiece[]];

const PARAGRAPH = '\n\n';

function handleChunk(open: OpenCompletion, event: ThreadEventOf<'model.chunk'>): TextTransition {
  const { delta, call, depth } = event.data;
  // Text of a sub-prompt is no answer to the user.
  if (depth !== undefined || delta === '') return [open, []];
  const id = `${event.step ?? 0}.${event.attempt ?? 0}.${call}`;
  const text = (open.attempt?.id === id ? open.attempt.text : '') + delta;
  const next = { ...open, attempt: { id, text } };
  // Nothing until the text is longer or different.
  return open.told.startsWith(text) ? [next, []] : emitText(next, text);
}

/** Emits what the committed text of a step adds or replaces, and closes the step. */
function commitText(open: OpenCompletion, content: string): TextTransition {
  const [next, chunks] = emitText(open, content);
  return [{ ...next, told: '', attempt: null }, chunks];
}

function emitText(open: OpenCompletion, text: string): TextTransition {
  const { told, begun } = open;
  if (text === told) return [open, []];
  const next = { ...open, told: text, begun: true };
  if (told === '') return [next, [{ text: (begun ? PARAGRAPH : '') + text }]];
  if (text.startsWith(told)) return [next, [{ text: text.slice(told.length) }]];
  return [next, [{ text: text === '' ? '' : PARAGRAPH + text, discarded: told }]];
}

/** Separates a text from earlier text. */
function paragraph(open: OpenCompletion, text: string): string {
  return (open.begun ? PARAGRAPH : '') + text;
}

/** Sums the usage of all answered model requests of an execution, with OpenAI's field names. */
function addUsage(sum: CompletionUsage, usage: ProviderUsage | null): CompletionUsage {
  if (!usage) return sum;
  const { promptTokens, completionTokens, totalTokens, cachedTokens = 0, reasoningTokens = 0 } = usage;
  return {
    prompt_tokens: sum.prompt_tokens + promptTokens,
    completion_tokens: sum.completion_tokens + completionTokens,
    total_tokens: sum.total_tokens + totalTokens,
    prompt_tokens_details: { cached_tokens: sum.prompt_tokens_details.cached_tokens + cachedTokens },
    completion_tokens_details: {
      reasoning_tokens: sum.completion_tokens_details.reasoning_tokens + reasoningTokens,
    },
  };
}

const REQUEST_TEXTS: Readonly<Record<WaitKind, (name: string) => string>> = {
  approval: (name) => `approval of ${name}`,
  question: (name) => `an answer to ${name}`,
  variables: (name) => `variables of ${name}`,
  paused: (name) => `permission to continue for ${name}`,
  reconcile: (name) => `the outcome of ${name}`,
};

/** Describes waits for people as text, because a completion has no field for them. */
function openWait(open: OpenCompletion, wait: EventData['wait.opened']): OpenCompletion {
  const { waitId, kind, name, summary } = wait;
  const asked = `${REQUEST_TEXTS[kind](name)}: ${summary} (wait ${waitId})`;
  return { ...open, waits: { ...open.waits, [waitId]: asked } };
}

function closeWait(open: OpenCompletion, { waitId }: NamedWait): OpenCompletion {
  const { [waitId]: _, ...waits } = open.waits;
  return { ...open, waits };
}
