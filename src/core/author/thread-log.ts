/** Log entries that `ThreadState.getLogs` returns (definitions §14.8, runtime §12). */

/** One durable marker: a model call, a tool call, an execution, the thread's life. */
export interface Log {
  readonly id: string;
  /** `model_call`, `tool_call`, `tool_invocation`, `execution`, `thread`, `effect`, `hook`, `code`, `subagent`. */
  readonly type: string;
  /** Model calls: model, usage, cost (USD), times. Tool calls: name, status, duration. Never content. */
  readonly data: Readonly<Record<string, unknown>>;
  /** Set if an author, as in a `before_create_message` hook, put it into the metadata of the answer or tool message. */
  readonly metadata?: { readonly status_kind: string };
  /** Microseconds. */
  readonly created_at: number;
  /** The execution of a model or tool call. */
  readonly parent_id: string | null;
}

export interface GetLogsOptions {
  /** Maximum number of entries; default 100. */
  readonly limit?: number;
  readonly offset?: number;
  /** `desc` (default): newest first. */
  readonly order?: 'asc' | 'desc';
}
