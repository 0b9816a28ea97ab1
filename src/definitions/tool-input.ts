/** What authors pass to `defineTool` (definitions §8). Types alone; `define-tool.ts` checks them. */

import type { ToolDefinition } from '../core/author/registry.ts';
import type { AnyThreadState, ThreadState } from '../core/author/thread-state.ts';
import type { ActionContext, PreparedAction } from '../core/governance/prepared-action.ts';
import type { ToolResult } from '../core/message/message.ts';
import type { VariableInput } from './variable-input.ts';

/**
 * A `z.object(…)` of any copy of zod 4, by shape: zod's own classes would refuse the type of another copy.
 * Fields may be string, number, boolean, null, literal, enum, unknown, any, array, object, record and union, also
 * optional, nullable or with a default; at most 7 levels of containers.
 */
export interface ToolArguments {
  readonly _zod: { readonly output: unknown; readonly def: { readonly type: 'object' } };
}

/** What `execute` receives: parsed, with defaults applied. */
export type ParsedArguments<Args extends ToolArguments> = Args['_zod']['output'];

export type ExecuteTool<
  Args extends ToolArguments | undefined,
  State extends AnyThreadState = ThreadState,
> = [Args] extends [ToolArguments]
  ? (state: State, args: ParsedArguments<Args>) => Promise<ToolResult> | ToolResult
  : (state: State, noArguments: undefined) => Promise<ToolResult> | ToolResult;

/** A tool whose `execute` can be called with its own arguments, as a test does. */
export type DefinedTool<
  Args extends ToolArguments | undefined,
  State extends AnyThreadState = ThreadState,
> = ToolDefinition & { readonly execute: ExecuteTool<Args, State> };

/** Returns what a person must confirm about a call, in words; null if nothing. */
export type Confirm<Args extends ToolArguments | undefined> = (
  args: [Args] extends [ToolArguments] ? ParsedArguments<Args> : undefined,
) => string | null | Promise<string | null>;

/** Describes what a call would do. `args` is undefined if the tool takes no arguments. */
export type PrepareAction<Args extends ToolArguments | undefined> = (
  args: [Args] extends [ToolArguments] ? ParsedArguments<Args> : undefined,
  context: ActionContext,
) => Promise<PreparedAction> | PreparedAction;

export interface ToolInput<
  Args extends ToolArguments | undefined = undefined,
  State extends AnyThreadState = ThreadState,
> {
  /** What models read to choose the tool. */
  description: string;
  /** A `z.object(…)`; without it the tool takes no arguments. */
  args?: Args;
  /**
   * Version of what it does, such as `'2'`. An approval counts for one version: change it when the same call has another
   * meaning.
   */
  version?: string;
  /** Does the work. What it throws becomes an error result; the thread goes on. */
  execute: ExecuteTool<Args, State>;
  /** Variables that the tool needs or explains; default none. */
  variables?: readonly VariableInput[];
  /** @deprecated A zod object that declares variables; use `variables`. */
  tenvs?: object;
  /** Names that the tool may reach with queueTool and invokeTool; default any. */
  uses?: readonly string[];
  /** `local` (default): `execute` runs here. `provider`: the model's provider runs it, `execute` never does. */
  executionMode?: 'local' | 'provider';
  /** Which provider runs it; only with `executionMode: 'provider'`. */
  executionProvider?: string;
  /**
   * True if it may run more than once per call without harm. Default: the value of `quick`. If false, a call whose
   * worker was lost is reported and not repeated.
   */
  idempotent?: boolean;
  /** True if it is normally done within 1 second: it may then run within the step that calls it. Default false. */
  quick?: boolean;
  /**
   * True if calls of it that stand beside each other in an answer may run at once: at most 8, whatever the tools. Needs
   * `idempotent: true` or `quick: true`. Its state is read-only: what would change the thread throws `ReadOnlyTool`. Their
   * results are stored in the order in which the model made the calls. Default false: one after another.
   */
  parallel?: boolean;
  /**
   * `own`: each call is an activity of its own, which the Temporal Web UI shows. By default, calls of a tool that has
   * proved to be short run within the step that calls it.
   */
  activity?: 'own';
  /**
   * True if its body may `await state.ask(…)`: the call waits for a person, then the body restarts from its beginning.
   * Default false.
   */
  asks?: boolean;
  /** Milliseconds for one call; above 0, default 1,800,000 (30 minutes). */
  timeoutMs?: number;
  /** Capabilities that a call needs, such as `['records.write']`, judged by the `policy` of the agent. Default none. */
  capabilities?: readonly string[];
  /**
   * Describes what a call would do, before the `policy` of the agent judges it: a description, artifacts to review,
   * more capabilities. It may run more than once for a call, so it must have no effect, and must return the same as
   * long as the same would be done. Not called if nothing judges the call. An error that it throws becomes an error
   * result; it has 30 s.
   */
  prepareAction?: PrepareAction<Args>;
  /**
   * A person must confirm each call before it begins, even if the agent has no policy. If a rule requires an approval,
   * both are one wait. A function returns the text to confirm, or null if this call needs no confirmation; it may run
   * more than once for a call, and has 30 s.
   */
  confirm?: true | Confirm<Args>;
  /** `false`: an approval is for one call, whatever `scope` a person would give it. */
  grantable?: false;
  /** Milliseconds that a call waits for an approval, above 0; then it is refused. Default: as long as its execution lasts. */
  approvalTimeoutMs?: number;
}
