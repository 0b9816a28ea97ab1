/** Runs a tool's own code. Whatever it does, the answer is a ToolResult: a throw is an error result (runtime §5.2). */
import type { ToolDefinition } from '../core/author/definition.ts';
import type { ThreadState } from '../core/author/thread-state.ts';
import type { ToolResult } from '../core/message/message.ts';
import { errorMessage, errorStack } from '../core/value/thrown.ts';
import type { Recall } from './ask.ts';
import { runAuthorCode } from './author-run.ts';
import { runMcpCall } from './mcp-call.ts';
import { toToolResult } from './tool-result.ts';

export interface ToolBody {
  readonly tool: ToolDefinition;
  readonly state: ThreadState;
  /** Checked already; a tool without a schema is called without them. */
  readonly args: unknown;
  /** As in AuthorRun. */
  readonly work: string;
  /** Where the call can ask. */
  readonly recall?: Recall;
}

export async function runToolBody({ tool, state, args, work, recall }: ToolBody): Promise<ToolResult> {
  const code = tool.runsCode ? 'run_code' : 'tool';
  // The definition types `args` as never, because each tool has its own; checkToolArguments has seen to them.
  const execute = tool.execute as (state: ThreadState, args?: unknown) => unknown;
  try {
    const { remote } = tool;
    if (remote) return toToolResult(await runMcpCall({ remote, state, args, recall }));
    return await runAuthorCode({ code, name: tool.name, threadId: state.threadId, work }, async () =>
      // Within the author's code: getters of what it returned are its own.
      toToolResult(await (tool.args ? execute(state, args) : execute(state))),
    );
  } catch (error) {
    const stack = errorStack(error);
    return { status: 'error', error: errorMessage(error), ...(stack === undefined ? {} : { stack }) };
  }
}
