/** Runs a tool's own code. Whatever it does, the answer is a ToolResult: a throw is an error result (runtime §5.2). */
import type { ToolDefinition } from '../core/definition.ts';
import { errorMessage } from '../core/error.ts';
import type { ToolResult } from '../core/message.ts';
import type { ThreadState } from '../core/thread-state.ts';
import { toToolResult } from './tool-result.ts';

/** `args` are checked already; a tool without a schema is called without them. */
export async function runToolBody(
  tool: ToolDefinition,
  state: ThreadState,
  args: unknown,
): Promise<ToolResult> {
  try {
    // The definition types `args` as never, because each tool has its own; checkArguments has seen to them.
    const execute = tool.execute as (state: ThreadState, args?: unknown) => unknown;
    return toToolResult(await (tool.args ? execute(state, args) : execute(state)));
  } catch (error) {
    const stack = (error as { stack?: unknown } | null)?.stack;
    return { status: 'error', error: errorMessage(error), ...(typeof stack === 'string' ? { stack } : {}) };
  }
}
