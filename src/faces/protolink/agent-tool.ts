/** Converts tools of Protolink to tools of the engine. */
import { z } from 'zod';
import type { OwnActionContext } from '../../core/author/own-action.ts';
import type { ThreadState } from '../../core/author/thread-state.ts';
import type { ActionContext } from '../../core/governance/prepared-action.ts';
import type { GivenContext } from '../../core/governance/run-context.ts';
import { defineTool, type ToolArguments, type ToolInput } from '../../definitions/index.ts';
import { ANY_ARGUMENTS } from '../../definitions/tool-schema.ts';
import { checkNames, type Names } from '../known-names.ts';
import { type Fields, type RunAction, toPrepared } from './artifact.ts';
import { toActionError } from './failure.ts';
import { RunContext } from './run-context.ts';
import { Task } from './task.ts';

/** What the code of a tool or a handler receives from its run. */
export interface RunScope {
  readonly taskId: string;
  readonly context: RunContext;
  /** Aborts when the run is cancelled. */
  readonly signal: AbortSignal;
  raiseIfCancelled(): void;
  /**
   * Executes an action that is not a tool call, by the same rules as a call: the `arguments` of its payload are judged
   * and shown. Throws `ActionDeniedError`, or its subclass `ApprovalRequiredError`, which has opened a wait: once that
   * is approved, the same action passes. A refusal by the budget, and an error of `execute`, have their own codes.
   */
  act<Value>(action: RunAction, execute: (scope: OwnActionContext) => Value | Promise<Value>): Promise<Value>;
}

export interface AgentTool {
  readonly name: string;
  readonly description: string;
  /** What a model is told and what is checked; without it a call's arguments pass as they are, and a model is told none. */
  readonly args?: ToolArguments;
  readonly capabilities?: readonly string[];
  /** Returns the action of a call, given the call's arguments and the run's context. */
  readonly actionBuilder?: (args: Fields, context: RunContext) => RunAction | Promise<RunAction>;
}

const TOOL_FIELDS: Names<AgentTool> = {
  name: true,
  description: true,
  args: true,
  capabilities: true,
  actionBuilder: true,
};

export type RunTool = (args: Fields, scope: RunScope) => unknown;

/** The tool by which an agent with its own handler carries out tasks. */
export const HANDLER_TOOL: AgentTool = {
  name: 'handle_task',
  description: 'Carries out a task.',
  args: z.object({ task: z.record(z.string(), z.unknown()) }),
};

/** The run's context is no part of the work: it is that of the run when the handler is called. */
export const toHandlerCall = ({ id, messages, ownMetadata: metadata }: Task) => ({
  name: HANDLER_TOOL.name,
  arguments: { task: { id, messages, metadata } },
});

export const toHandlerRun =
  (handler: (task: Task, scope: RunScope) => unknown): RunTool =>
  (args, scope) => {
    const task = new Task(args.task as Fields);
    scope.context.attachToTask(task);
    return handler(task, scope);
  };

export function toTool(tool: AgentTool, run: RunTool) {
  checkNames(`The tool "${tool.name}"`, 'field', tool, TOOL_FIELDS);
  const { actionBuilder, description, args = ANY_ARGUMENTS, capabilities } = tool;
  const prepareAction =
    actionBuilder &&
    (async (given: Fields, { context }: ActionContext) =>
      toPrepared(await actionBuilder(given, new RunContext((context ?? {}) as GivenContext))));
  const execute = async (state: ThreadState, given: Fields) => {
    const result = await run(given, scopeOf(state));
    const text = typeof result === 'string' ? result : JSON.stringify(result ?? null);
    return { status: 'success', result: text } as const;
  };
  // Only the schema knows the types of the arguments.
  return defineTool({ description, args, capabilities, prepareAction, execute } as unknown as ToolInput);
}

function scopeOf(state: ThreadState): RunScope {
  const { execution } = state;
  const signal = execution?.abortSignal ?? new AbortController().signal;
  const context = new RunContext((execution?.context ?? {}) as GivenContext);
  return {
    taskId: state.threadId,
    context,
    signal,
    raiseIfCancelled: () => signal.throwIfAborted(),
    async act(action, execute) {
      const { kind, name, payload } = action;
      const given = { kind, name, arguments: (payload.arguments ?? payload) as Fields };
      const ended = await state.act({ ...given, ...toPrepared(action) }, execute);
      if (ended.status === 'error') throw toActionError(ended, action, context.runId);
      return ended.value;
    },
  };
}
