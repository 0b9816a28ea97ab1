/** Tools of the page as tools of the engine. */
import { z } from 'zod';
import type { OwnActionContext } from '../core/author/own-action.ts';
import type { ThreadState } from '../core/author/thread-state.ts';
import type { GivenContext } from '../core/governance/run-context.ts';
import { defineTool, type ToolArguments, type ToolInput } from '../definitions/index.ts';
import { type Fields, type RunAction, toPrepared } from './artifact.ts';
import { toActionError } from './failure.ts';
import { RunContext } from './run-context.ts';
import type { Task } from './task.ts';

/** What code of a run sees of it. */
export interface RunScope {
  readonly context: RunContext;
  /** Fires when the run is cancelled. */
  readonly signal: AbortSignal;
  raiseIfCancelled(): void;
  /**
   * Does what an action says that is no call of a tool, by the rules of every call: its payload's `arguments` are what is judged and shown. Throws
   * `ActionDeniedError`, or its `ApprovalRequiredError`, which has opened a wait: once that is approved, the same action passes. What the budget refuses,
   * and what `execute` threw, has its code.
   */
  act<Value>(action: RunAction, execute: (scope: OwnActionContext) => Value | Promise<Value>): Promise<Value>;
}

export interface AgentTool {
  readonly name: string;
  readonly description: string;
  readonly args?: ToolArguments;
  readonly capabilities?: readonly string[];
  /** What a call would do. Its arguments are those of the call. */
  readonly actionBuilder?: (args: Fields) => RunAction | Promise<RunAction>;
}

export type RunTool = (args: Fields, scope: RunScope) => unknown;

/** Carries out tasks by a handler of one's own. */
export const HANDLER_TOOL: AgentTool = {
  name: 'handle_task',
  description: 'Carries out a task.',
  args: z.object({ task: z.record(z.string(), z.unknown()) }),
};

export const toHandlerCall = (task: Task) => ({
  name: HANDLER_TOOL.name,
  arguments: { task: task.toDict() },
});

export function toTool({ actionBuilder, description, args, capabilities }: AgentTool, run: RunTool) {
  const prepareAction = actionBuilder && (async (given: Fields) => toPrepared(await actionBuilder(given)));
  const execute = async (state: ThreadState, given: Fields = {}) => {
    const result = await run(given, scopeOf(state));
    const text = typeof result === 'string' ? result : JSON.stringify(result ?? null);
    return { status: 'success', result: text } as const;
  };
  // What the arguments are is known to their schema alone.
  return defineTool({ description, args, capabilities, prepareAction, execute } as unknown as ToolInput);
}

function scopeOf(state: ThreadState): RunScope {
  const { execution } = state;
  const signal = execution?.abortSignal ?? new AbortController().signal;
  const context = new RunContext((execution?.context ?? {}) as GivenContext);
  return {
    ...{ context, signal, raiseIfCancelled: () => signal.throwIfAborted() },
    async act(action, execute) {
      const { kind, name, payload } = action;
      const given = { kind, name, arguments: (payload.arguments ?? payload) as Fields };
      const ended = await state.act({ ...given, ...toPrepared(action) }, execute);
      if (ended.status === 'error') throw toActionError(ended, action);
      return ended.value;
    },
  };
}
