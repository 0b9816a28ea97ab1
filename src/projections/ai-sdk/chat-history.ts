/**
 * Assembles the messages of a chat from its log, as a page of `useChat` that saw every response would hold them.
 * - An execution that has ended is one message of the assistant, under its own id, as in its stream. The one that is
 *   still open is left to the stream, which tells it from its beginning: a page that had it would show it twice.
 * - Only what stays in the log counts. So reasoning, which a page sees as it streams, is in none of these messages, and
 *   they are the same whenever they are read.
 */
import type { Message } from '../../core/message/message.ts';
import type { LogRow } from '../projection.ts';
import { callsOf } from '../row-message.ts';
import { readInput } from './chat-calls.ts';
import { projectChat } from './chat-projection.ts';
import { beginChat, type ChatReading } from './chat-state.ts';
import type { UiChunk, UiDialect } from './ui-chunk.ts';
import type { UiMessage, UiPart, UiToolPart } from './ui-message.ts';

/** The messages of these rows, in order. The rows begin between two executions. */
export class ChatHistory {
  readonly #told: UiMessage[] = [];
  #reading: ChatReading;
  #open: UiPart[] = [];

  constructor(dialect: UiDialect) {
    this.#reading = beginChat(dialect);
  }

  get messages(): readonly UiMessage[] {
    return this.#told;
  }

  add(row: LogRow): void {
    const { event, message } = row;
    if (event.type === 'model.chunk') return;
    const id = this.#reading.response?.messageId;
    if (id === undefined && event.type === 'message.created' && event.data.depth === undefined)
      this.#addMessage(message);
    const [reading, chunks] = projectChat(this.#reading, row);
    for (const chunk of chunks) this.#open = addChunk(this.#open, chunk);
    this.#reading = reading;
    if (event.type === 'execution.started') this.#open = [];
    if (event.type !== 'execution.ended' || id === undefined) return;
    if (this.#open.some(({ type }) => type !== 'step-start'))
      this.#told.push({ id, role: 'assistant', parts: this.#open });
  }

  /** A message between two executions: a user's, or one of a conversation that the thread began with. */
  #addMessage(message: Message | null | undefined): void {
    if (!message || message.silent) return;
    if (message.role === 'user')
      this.#told.push({ id: message.id, role: 'user', parts: [...textOf(message), ...filesOf(message)] });
    if (message.role === 'assistant')
      this.#told.push({
        id: message.id,
        role: 'assistant',
        parts: [...textOf(message), ...toolsOf(message)],
      });
    if (message.role === 'tool') this.#addResult(message);
  }

  #addResult({ tool_call_id: callId, content, tool_status: status }: Message): void {
    const last = this.#told.findLastIndex(({ role }) => role === 'assistant');
    const called = this.#told[last];
    if (!called || callId === null) return;
    const text = content ?? '';
    const parts = addChunk(
      called.parts,
      status === 'error'
        ? { type: 'tool-output-error', toolCallId: callId, errorText: text, dynamic: true }
        : { type: 'tool-output-available', toolCallId: callId, output: text, dynamic: true },
    );
    this.#told[last] = { ...called, parts };
  }
}

function textOf({ content }: Message): UiPart[] {
  return content ? [{ type: 'text', text: content }] : [];
}

/** Paths in the thread: the route makes addresses of them. */
function filesOf({ attachments }: Message): UiPart[] {
  return (attachments ?? []).map(({ path, mimeType, name }) => ({
    type: 'file',
    mediaType: mimeType,
    filename: name,
    url: path,
  }));
}

function toolsOf(message: Message): UiPart[] {
  return callsOf(message).map(({ id, function: { name, arguments: given } }) => ({
    type: 'dynamic-tool',
    toolName: name,
    toolCallId: id,
    state: 'input-available',
    input: readInput(given),
  }));
}

/** The parts of a message after a chunk of its stream, as the AI SDK keeps them. */
function addChunk(parts: readonly UiPart[], chunk: UiChunk): UiPart[] {
  switch (chunk.type) {
    case 'start-step':
      return [...parts, { type: 'step-start' }];
    case 'text-start':
      return [...parts, { type: 'text', text: '', state: 'done' }];
    case 'text-delta': {
      const last = parts.at(-1);
      return last?.type === 'text'
        ? [...parts.slice(0, -1), { ...last, text: last.text + chunk.delta }]
        : [...parts];
    }
    case 'tool-input-available':
      return putTool(parts, { ...toolOf(chunk), state: 'input-available', input: chunk.input });
    case 'tool-input-error': {
      const { input, errorText } = chunk;
      return putTool(parts, { ...toolOf(chunk), state: 'output-error', input, errorText });
    }
    case 'tool-approval-request':
      return changeTool(parts, chunk, { state: 'approval-requested', approval: { id: chunk.approvalId } });
    case 'tool-output-available':
      return changeTool(parts, chunk, { state: 'output-available', output: chunk.output }, true);
    case 'tool-output-error':
      return changeTool(parts, chunk, { state: 'output-error', errorText: chunk.errorText }, true);
    case 'tool-output-denied':
      return changeTool(parts, chunk, { state: 'output-denied' }, false);
    case 'steering-message':
      return [...parts, chunk];
    default:
      return 'id' in chunk && 'data' in chunk && !('transient' in chunk) ? putData(parts, chunk) : [...parts];
  }
}

function toolOf({ toolCallId, toolName }: { readonly toolCallId: string; readonly toolName: string }) {
  return { type: 'dynamic-tool', toolCallId, toolName } as const;
}

function isToolOf(part: UiPart, callId: string): part is UiToolPart {
  return part.type === 'dynamic-tool' && part.toolCallId === callId;
}

function putTool(parts: readonly UiPart[], tool: UiToolPart): UiPart[] {
  const at = parts.findLastIndex((part) => isToolOf(part, tool.toolCallId));
  return at < 0 ? [...parts, tool] : parts.with(at, tool);
}

/** `approved`: what the answer was if the call had to be approved. */
function changeTool(
  parts: readonly UiPart[],
  { toolCallId }: { readonly toolCallId: string },
  change: Partial<UiToolPart>,
  approved?: boolean,
): UiPart[] {
  const at = parts.findLastIndex((part) => isToolOf(part, toolCallId));
  const tool = parts[at] as UiToolPart | undefined;
  if (!tool) return [...parts];
  const { approval } = tool;
  const answered = approval && approved !== undefined ? { approval: { ...approval, approved } } : {};
  return parts.with(at, { ...tool, ...answered, ...change });
}

function putData(
  parts: readonly UiPart[],
  { type, id, data }: { readonly type: `data-${string}`; readonly id: string; readonly data: unknown },
): UiPart[] {
  const at = parts.findIndex((part) => part.type === type && 'id' in part && part.id === id);
  return at < 0 ? [...parts, { type, id, data }] : parts.with(at, { type, id, data });
}
