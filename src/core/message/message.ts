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
  readonly name: string;
  readonly mimeType: string;
  /** Base64. */
  readonly data: string;
  readonly width?: number;
  readonly height?: number;
  readonly description?: string;
}

/** A tool call as the model asked for it; `arguments` is the model's own JSON text, never parsed here. */
export interface ToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
  /** What the provider wants to have back with the call; JSON. */
  readonly extra_content?: unknown;
}

export interface Message {
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
  readonly status: ToolStatus;
  readonly result?: string;
  readonly error?: string;
  readonly stack?: string;
  /** New content, or files of this thread: an AttachmentRef or a path. */
  readonly attachments?: readonly (ToolAttachment | AttachmentRef | string)[];
}

/** What the model reads of a tool's result (definitions §12.4). */
export function toolContent(result: ToolResult): string {
  if (result.status === 'error') return `Failed to execute tool: ${result.error ?? 'no reason was given'}`;
  return result.result && result.result.length > 0
    ? result.result
    : 'The tool succeeded and returned nothing.';
}
