/** The variables of a thread, as code that works for it reads and sets them, and the removal of secrets from what it writes. `env.ts` makes it. */
import type { ToolDefinition } from '../core/author/definition.ts';
import type { EnvState } from '../core/author/thread-env.ts';
import type { ToolResult } from '../core/message/message.ts';
import type { ThreadRecord } from '../store/port/thread.ts';

export interface ThreadEnv {
  /** As this tool sees them: the values of its entry in the prompt are its own. */
  bind(tool: ToolDefinition | undefined): EnvState;
  /** The error result of a tool that may not run, since a variable that it requires has no value; undefined when it may. */
  refuseTool(tool: ToolDefinition): Promise<ToolResult | undefined>;
  redact(result: ToolResult): Promise<ToolResult>;
  /** Takes out of what this code writes elsewhere the secrets that it has read or set (env.ts, T4). Texts in it, at any depth. */
  redactKnown<T>(value: T): T;
  /**
   * The variables of another thread of the family, for the same code: a secret that it reads there is taken out of what it
   * writes here, and the other way round (env.ts, T3, T4).
   */
  of(thread: ThreadRecord): ThreadEnv;
}
