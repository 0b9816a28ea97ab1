/**
 * Messages as stored and as shown (definitions §15.1). Roles say authorship: `assistant` is side A,
 * `user` is side B. Times are microseconds since 1970, strictly increasing within a thread.
 */

export type MessageRole = 'system' | 'user' | 'assistant' | 'tool';
export type MessageStatus = 'pending' | 'completed' | 'failed';
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
  /** What the provider wants to have back with the call; JSON. */
  readonly extra_content?: unknown;
}

/** The subagent that a message is about: from the registry of its parent (definitions §15.1). */
export interface SubagentFields {
  /** Its thread. */
  readonly subagent_id: string;
  /** Its agent's name, title and description. */
  readonly subagent_name: string;
  readonly subagent_title: string | null;
  readonly subagent_description: string;
  /** As of the moment in which the message is read. */
  readonly subagent_status: string;
  readonly subagent_resumable: boolean;
  readonly subagent_blocking: boolean;
  /** Its own name, for display. */
  readonly subagent_thread_name: string | null;
  /** The same for children that were made in one step. */
  readonly subagent_spawn_group_id: string | null;
}

/**
 * The fields of a subagent are on what `getMessage` and `getMessages` answer: on a message of a child of the thread, and on the result of
 * a call of one.
 */
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

/** What a tool answers (definitions §8). The status `error` is a value, never a crash (runtime §5.2). */
export interface ToolResult {
  status: ToolStatus;
  result?: string;
  error?: string;
  stack?: string;
  /** For programs: which error it is, and what there is to know of it, as JSON. In the metadata of the tool's message as well. */
  error_code?: string;
  error_data?: unknown;
  /** New content, or files of this thread: an AttachmentRef or a path. */
  attachments?: readonly (ToolAttachment | AttachmentRef | string)[];
}

/** What the model reads of a tool's result (definitions §12.4). */
export function toolContent(result: ToolResult): string {
  if (result.status === 'error') return `Failed to execute tool: ${result.error ?? 'no reason was given'}`;
  return result.result && result.result.length > 0
    ? result.result
    : 'The tool succeeded and returned nothing.';
}
