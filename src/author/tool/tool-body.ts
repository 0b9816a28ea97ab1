/** Runs a tool's own code. The outcome is always a ToolResult: a throw becomes an error result (runtime §5.2). */
import type { ToolDefinition } from '../../core/author/registry.ts';
import type { ThreadState } from '../../core/author/thread-state.ts';
import type { ToolResult } from '../../core/message/message.ts';
import { errorMessage, errorStack } from '../../core/value/thrown.ts';
import { runAuthorCode } from '../guard/author-run.ts';
import type { Recall } from '../policy/ask.ts';
import { runMcpCall } from '../remote/mcp-call.ts';
import { toToolResult } from './tool-result.ts';

export interface ToolBody {
  readonly tool: ToolDefinition;
  readonly state: ThreadState;
  /** Validated arguments; a tool without a schema is called without any. */
  readonly args: unknown;
  /** Key of the work, as in AuthorRun. */
  readonly work: string;
  /** Returns earlier questions of the call; absent if the call cannot ask. */
  readonly recall?: Recall;
  /** Logs what was not kept as the tool returned it. */
  readonly note: (text: string) => Promise<void>;
}

export async function runToolBody({ tool, state, args, work, recall, note }: ToolBody): Promise<ToolResult> {
  const code = tool.runsCode ? 'run_code' : 'tool';
  // The definition types `args` as never, because each tool has its own type; checkToolArguments has validated them.
  const execute = tool.execute as (state: ThreadState, args?: unknown) => unknown;
  try {
    const { remote } = tool;
    if (tool.a2a) return NOT_CALLABLE_HERE;
    if (remote) return await runMcpCall({ remote, state, args, recall });
    const run = { code, name: tool.name, threadId: state.threadId, work } as const;
    const { result, notes } = await runAuthorCode(run, async () =>
      // Converted within the run: getters of the returned value are author code.
      toToolResult(await (tool.args ? execute(state, args) : execute(state))),
    );
    for (const text of notes) await note(text);
    return result;
  } catch (error) {
    const stack = errorStack(error);
    return { status: 'error', error: errorMessage(error), ...(stack === undefined ? {} : { stack }) };
  }
}

/**
 * Result for an agent elsewhere: its task may take days, and running code does not wait. Calls of models are run by
 * activities/tool-gate/run-body.ts.
 */
const NOT_CALLABLE_HERE: ToolResult = {
  status: 'error',
  error:
    'An agent elsewhere can be called only by a model or with queueTool: running code cannot wait for its task.',
  error_code: 'A2aRefused',
};
