/**
 * Projects the log as the AI SDK's UI message stream. It may begin at the start of any execution, which is one
 * assistant message here.
 * - A response ends once: with `finish`, or with `abort`.
 * - Nothing that happens between executions is emitted.
 */
import type { EventKind, ThreadEvent } from '../../core/event/thread-event.ts';
import type { LogRow, Projection } from '../projection.ts';
import { argumentsOf, toRowMessage } from '../row-message.ts';
import { CALL_HANDLERS, emitCall } from './chat-calls.ts';
import { endResponse } from './chat-end.ts';
import type { ChatHandlers, ChatTransition } from './chat-handler.ts';
import { type ChatReading, type OpenResponse, openResponse } from './chat-state.ts';
import { TEXT_HANDLERS } from './chat-text.ts';
import type { UiChunk, UiDialect } from './ui-chunk.ts';

const HANDLERS: ChatHandlers = {
  ...TEXT_HANDLERS,
  ...CALL_HANDLERS,
  'subagent.created': (response, { data: { callId } }) =>
    callId === undefined ? [response, []] : emitCall(response, callId),
  'thread.status': (response, { data: { status } }) => [{ ...response, waiting: status === 'waiting' }, []],
};

export const projectChat: Projection<ChatReading, UiChunk> = (reading, row) => {
  const { event } = row;
  const { response, dialect } = reading;
  if (event.type === 'execution.started') {
    const opened = openResponse(event.data.executionId);
    return [{ ...reading, response: opened }, [{ type: 'start', messageId: opened.messageId }]];
  }
  if (!response) return [reading, []];
  // The last chunks of the response.
  if (event.type === 'execution.ended')
    return [{ ...reading, response: null }, endResponse(response, event.data)];
  if (event.type === 'message.created') {
    const [next, chunks] = handleMessage(response, row, dialect);
    return [{ ...reading, response: next }, chunks];
  }
  const [next, chunks] = handle(response, event, dialect);
  return [{ ...reading, response: next }, [...chunks, ...noteOf(event)]];
};

function handle(response: OpenResponse, event: ThreadEvent, dialect: UiDialect): ChatTransition {
  // The handler is looked up by the type of the event, so the cast is safe.
  const handler = HANDLERS[event.type] as
    | ((response: OpenResponse, event: ThreadEvent, dialect: UiDialect) => ChatTransition)
    | undefined;
  return handler ? handler(response, event, dialect) : [response, []];
}

/**
 * Remembers a message: it is emitted with the row that shows what it is, such as an answer or a result. A user's
 * message that joins the running execution is emitted at once.
 */
function handleMessage(
  response: OpenResponse,
  { event, message }: LogRow,
  dialect: UiDialect,
): ChatTransition {
  if (event.type !== 'message.created') return [response, []];
  const { messageId: id, role, depth } = event.data;
  const said = toRowMessage(id, message);
  const next = { ...response, said, arguments: { ...response.arguments, ...argumentsOf(message) } };
  if (role !== 'user' || depth !== undefined || !message || message.silent) return [next, []];
  const text = message.content ?? '';
  const joined: UiChunk =
    dialect === 7
      ? { type: 'steering-message', id, parts: [{ type: 'text', text }] }
      : { type: 'data-message', id, data: { role, content: text } };
  return [next, [joined]];
}

const NOTES: { readonly [Kind in EventKind]?: string } = {
  'subagent.created': 'subagent',
  'subagent.status': 'subagent',
  'subagent.returned': 'subagent',
  'subagent.failed': 'subagent',
  'file.created': 'file',
  'file.updated': 'file',
  'file.deleted': 'file',
  'effect.scheduled': 'effect',
  'effect.done': 'effect',
  'effect.failed': 'effect',
  'budget.warning': 'budget',
  'budget.exceeded': 'budget',
};

/** Transient notes, which are not part of the message: about subagents, files, effects and budgets. */
function noteOf({ type, data }: ThreadEvent): readonly UiChunk[] {
  const name = NOTES[type];
  if (name === undefined) return [];
  return [{ type: `data-everthread-${name}`, data: { event: type, ...(data as object) }, transient: true }];
}
