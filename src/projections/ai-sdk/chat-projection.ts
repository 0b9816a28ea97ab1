/**
 * The log as the AI SDK's UI message stream. It may begin at the start of any execution, which is one message of the assistant here.
 * U1. A response ends once: with `finish`, or with `abort`.
 * U2. What happens between executions is not told.
 */
import type { ThreadEvent } from '../../core/event/thread-event.ts';
import type { LogRow, Projection } from '../projection.ts';
import { argumentsOf, saidBy } from '../row-message.ts';
import { CALL_HANDLERS, tell } from './chat-calls.ts';
import { endResponse } from './chat-end.ts';
import type { ChatHandlers, ChatTold } from './chat-handler.ts';
import { noteOf } from './chat-notes.ts';
import { type ChatReading, type OpenResponse, openResponse } from './chat-state.ts';
import { TEXT_HANDLERS } from './chat-text.ts';
import type { UiChunk, UiDialect } from './ui-chunk.ts';

const HANDLERS: ChatHandlers = {
  ...TEXT_HANDLERS,
  ...CALL_HANDLERS,
  'subagent.created': (response, { data: { callId } }) =>
    callId === undefined ? [response, []] : tell(response, callId),
  'thread.status': (response, { data: { status } }) => [{ ...response, waiting: status === 'waiting' }, []],
};

export const projectChat: Projection<ChatReading, UiChunk> = (reading, row) => {
  const { event } = row;
  const { response, dialect } = reading;
  if (event.type === 'execution.started') {
    const opened = openResponse(event.data.executionId);
    return [{ ...reading, response: opened }, [{ type: 'start', messageId: opened.messageId }]];
  }
  // U2: between executions.
  if (!response) return [reading, []];
  // U1: and nothing behind it.
  if (event.type === 'execution.ended')
    return [{ ...reading, response: null }, endResponse(response, event.data)];
  if (event.type === 'message.created') {
    const [next, told] = hear(response, row, dialect);
    return [{ ...reading, response: next }, told];
  }
  const [next, told] = handle(response, event, dialect);
  return [{ ...reading, response: next }, [...told, ...noteOf(event)]];
};

function handle(response: OpenResponse, event: ThreadEvent, dialect: UiDialect): ChatTold {
  // Narrowed by its type: the handler is the one of that kind.
  const handler = HANDLERS[event.type] as
    | ((response: OpenResponse, event: ThreadEvent, dialect: UiDialect) => ChatTold)
    | undefined;
  return handler ? handler(response, event, dialect) : [response, []];
}

/** What a message says is told with the row that says what it is: an answer, a result. What a user says meanwhile is told at once. */
function hear(response: OpenResponse, { event, message }: LogRow, dialect: UiDialect): ChatTold {
  if (event.type !== 'message.created') return [response, []];
  const { messageId: id, role, depth } = event.data;
  const said = saidBy(id, message);
  const next = { ...response, said, arguments: { ...response.arguments, ...argumentsOf(message) } };
  if (role !== 'user' || depth !== undefined || !message || message.silent) return [next, []];
  const text = message.content ?? '';
  const joined: UiChunk =
    dialect === 7
      ? { type: 'steering-message', id, parts: [{ type: 'text', text }] }
      : { type: 'data-message', id, data: { role, content: text } };
  return [next, [joined]];
}
