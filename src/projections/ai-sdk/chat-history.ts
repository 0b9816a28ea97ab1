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
  readonly #told: (UiMessage & { readonly parts: UiPart[] })[] = [];
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
    for (const chunk of chunks) addChunk(this.#open, chunk);
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

  #addResult({ tool_call_id: toolCallId, content, tool_status: status }: Message): void {
    const called = this.#told.findLast(({ role }) => role === 'assistant');
    if (!called || toolCallId === null) return;
    const text = content ?? '';
    addChunk(
      called.parts,
      status === 'error'
        ? { type: 'tool-output-error', toolCallId, errorText: text, dynamic: true }
        : { type: 'tool-output-available', toolCallId, output: text, dynamic: true },
    );
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

/** Adds a chunk of a message's stream to its parts, as the AI SDK does. */
function addChunk(parts: UiPart[], chunk: UiChunk): void {
  switch (chunk.type) {
    case 'start-step':
      parts.push({ type: 'step-start' });
      return;
    case 'text-start':
      parts.push({ type: 'text', text: '', state: 'done' });
      return;
    case 'text-delta': {
      const last = parts.at(-1);
      if (last?.type === 'text') parts[parts.length - 1] = { ...last, text: last.text + chunk.delta };
      return;
    }
    case 'tool-input-available':
      putTool(parts, { ...toolOf(chunk), state: 'input-available', input: chunk.input });
      return;
    case 'tool-input-error': {
      const { input, errorText } = chunk;
      putTool(parts, { ...toolOf(chunk), state: 'output-error', input, errorText });
      return;
    }
    case 'tool-approval-request':
      changeTool(parts, chunk, { state: 'approval-requested', approval: { id: chunk.approvalId } });
      return;
    case 'tool-output-available':
      changeTool(parts, chunk, { state: 'output-available', output: chunk.output }, true);
      return;
    case 'tool-output-error':
      changeTool(parts, chunk, { state: 'output-error', errorText: chunk.errorText }, true);
      return;
    case 'tool-output-denied':
      changeTool(parts, chunk, { state: 'output-denied' }, false);
      return;
    case 'steering-message':
      parts.push(chunk);
      return;
    default:
      if ('id' in chunk && 'data' in chunk && !('transient' in chunk)) putData(parts, chunk);
  }
}

function toolOf({ toolCallId, toolName }: { readonly toolCallId: string; readonly toolName: string }) {
  return { type: 'dynamic-tool', toolCallId, toolName } as const;
}

/** Replaces the part at this place; appends it if there is none (-1). */
function put(parts: UiPart[], at: number, part: UiPart): void {
  parts.splice(at < 0 ? parts.length : at, 1, part);
}

function findTool(parts: readonly UiPart[], callId: string): number {
  return parts.findLastIndex((part) => part.type === 'dynamic-tool' && part.toolCallId === callId);
}

function putTool(parts: UiPart[], tool: UiToolPart): void {
  put(parts, findTool(parts, tool.toolCallId), tool);
}

/** `approved`: what the answer was if the call had to be approved. */
function changeTool(
  parts: UiPart[],
  { toolCallId }: { readonly toolCallId: string },
  change: Partial<UiToolPart>,
  approved?: boolean,
): void {
  const at = findTool(parts, toolCallId);
  const tool = parts[at] as UiToolPart | undefined;
  if (!tool) return;
  const { approval } = tool;
  const answered = approval && approved !== undefined ? { approval: { ...approval, approved } } : {};
  put(parts, at, { ...tool, ...answered, ...change });
}

function putData(
  parts: UiPart[],
  { type, id, data }: { readonly type: `data-${string}`; readonly id: string; readonly data: unknown },
): void {
  const at = parts.findIndex((part) => part.type === type && 'id' in part && part.id === id);
  put(parts, at, { type, id, data });
}
