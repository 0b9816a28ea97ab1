/**
 * Messages as stored and as shown (definitions §15.1). Roles state authorship: `assistant` is side A,
 * `user` is side B. Times are microseconds since 1970, strictly increasing within a thread.
 */

import { definedFields } from '../value/record.ts';
import { MESSAGE_FIELDS, type MessageFields } from './message-fields.ts';

export type MessageRole = 'system' | 'user' | 'assistant' | 'tool';
/** `superseded`: no longer of the history; only the reading that asks for such messages has it. */
export type MessageStatus = 'pending' | 'completed' | 'failed' | 'superseded';
export type ToolStatus = 'success' | 'error';

/** A file of the same thread that a message names. */
export interface AttachmentRef {
  readonly id: string;
  readonly type: 'file';
  readonly path: string;
  readonly name: string;
  readonly mimeType: string;
  readonly size: number;
  readonly width?: number;
  readonly height?: number;
  readonly description?: string;
}

/** New content: the runtime stores it under `/attachments`, and the message then has an AttachmentRef. */
export interface ToolAttachment {
  name: string;
  mimeType: string;
  /** Base64. */
  data: string;
  width?: number;
  height?: number;
  description?: string;
}

/** A tool call as the model asked for it; `arguments` is the model's own JSON text, never parsed here. */
export interface ToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
  /** Data that the provider needs back with the call; JSON. */
  readonly extra_content?: unknown;
}

/** The subagent that a message is about, from its parent's registry of children (definitions §15.1). */
export interface SubagentFields {
  /** Id of its thread. */
  readonly subagent_id: string;
  /** Name, title and description of its agent. */
  readonly subagent_name: string;
  readonly subagent_title: string | null;
  readonly subagent_description: string;
  /** Its status at the moment in which the message is read. */
  readonly subagent_status: string;
  readonly subagent_resumable: boolean;
  readonly subagent_blocking: boolean;
  /** Name of the subagent itself, for display. */
  readonly subagent_thread_name: string | null;
  /** Children that were made in one step share this id. */
  readonly subagent_spawn_group_id: string | null;
}

/** The subagent fields are set by `getMessage` and `getMessages`, on messages from a child and results of its calls. */
export interface Message extends Partial<SubagentFields> {
  readonly id: string;
  readonly role: MessageRole;
  readonly content: string | null;
  /** Tool name, on tool messages. */
  readonly name: string | null;
  /** JSON text of ToolCall[]. */
  readonly tool_calls: string | null;
  readonly tool_call_id: string | null;
  /** Microseconds. */
  readonly created_at: number;
  readonly parent_id: string | null;
  readonly depth: number;
  readonly silent: boolean;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly attachments: readonly AttachmentRef[] | null;
  readonly status: MessageStatus;
  readonly tool_status: ToolStatus | null;
}

/** The fields of a message that hooks and later code may change. */
export type ChangedMessage = Partial<Pick<Message, keyof MessageFields | 'attachments'>>;

export function toChanges(message: Message): Required<ChangedMessage> {
  const fields = [...MESSAGE_FIELDS, 'attachments'] as const;
  return Object.fromEntries(fields.map((name) => [name, message[name]])) as Required<ChangedMessage>;
}

/** A message that is about to be stored; the store sets its time. */
export type UnstoredMessage = Pick<Message, 'id' | 'role'> & Partial<Message>;

/** The message with the fields that are not given. */
export function fillMessage<Given extends UnstoredMessage>(given: Given): Given & Message {
  return {
    content: null,
    name: null,
    tool_calls: null,
    tool_call_id: null,
    created_at: 0,
    parent_id: null,
    depth: 0,
    silent: false,
    metadata: {},
    attachments: null,
    status: 'completed',
    tool_status: null,
    ...definedFields(given),
  };
}

/** The result of a tool (definitions §8). The status `error` is a value, never a crash (runtime §5.2). */
export interface ToolResult {
  status: ToolStatus;
  result?: string;
  error?: string;
  stack?: string;
  /** For programs: the code of the error, and its details as JSON. Also in the metadata of the tool's message. */
  error_code?: string;
  error_data?: unknown;
  /**
   * For programs: the value of a typed answer, of an agent or a prompt that was called. Also in the metadata of the tool's
   * message. A hook that returns another result leaves it out.
   */
  output?: Readonly<Record<string, unknown>>;
  /** New content, or files of this thread: an AttachmentRef or a path. */
  attachments?: readonly (ToolAttachment | AttachmentRef | string)[];
}

const FAILED = 'Failed to execute tool: ';

/** The text that the model reads of a tool's result (definitions §12.4). */
export function toolContent(result: ToolResult): string {
  if (result.status === 'error') return `${FAILED}${result.error ?? 'no reason was given'}`;
  return result.result && result.result.length > 0
    ? result.result
    : 'The tool succeeded and returned nothing.';
}

/** The error of a call whose process was lost. */
export const UNKNOWN_OUTCOME =
  'The outcome of this call is unknown: the process that ran the tool was lost after it began and before it ' +
  'reported. It may or may not have taken effect. Check before you repeat it.';

/** Reads the reason back from the text of an error result; undefined for any other text. */
export function toolError(content: string): string | undefined {
  return content.startsWith(FAILED) ? content.slice(FAILED.length) : undefined;
}
