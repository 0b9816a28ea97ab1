/**
 * Variables of a thread, as author code reads and sets them, and the removal of secrets from what that code writes.
 * Implemented by `env.ts`.
 */
import type { ToolDefinition } from '../../core/author/registry.ts';
import type { EnvState } from '../../core/author/thread-env.ts';
import type { ToolResult } from '../../core/message/message.ts';
import type { ThreadRecord } from '../../store/thread/thread-record.ts';

export interface ThreadEnv {
  /** Returns the variables as this tool sees them, including the values of its entry in the prompt. */
  bind(tool: ToolDefinition | undefined): EnvState;
  /** Returns an error result if a variable that the tool requires has no value; undefined if the tool may run. */
  refuseTool(tool: ToolDefinition): Promise<ToolResult | undefined>;
  redact(result: ToolResult): Promise<ToolResult>;
  /** Removes secrets that this code has read or set from the texts in a value, at any depth (env.ts, T4). */
  redactKnown<T>(value: T): T;
  /**
   * Returns the variables of another thread of the family, for the same code: a secret that it reads there is removed
   * from what it writes here, and vice versa (env.ts, T3, T4).
   */
  of(thread: ThreadRecord): ThreadEnv;
}
