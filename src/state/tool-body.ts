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
    if (tool.a2a) return NOT_HERE;
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

/** Of an agent elsewhere: its task may take days, and code that runs does not wait (activities/tool-gate/run-body.ts runs it). */
const NOT_HERE: ToolResult = {
  status: 'error',
  error:
    'An agent elsewhere is called by a model, or with queueTool: code that runs cannot wait for its task.',
  error_code: 'A2aRefused',
};
