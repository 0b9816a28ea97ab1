/** What authors pass to `defineTool` (definitions §8). Types alone; `define-tool.ts` checks them. */

import type { ToolDefinition } from '../core/author/definition.ts';
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

/** What is to be confirmed of a call, in words; null where nothing is. */
export type Confirm<Args extends ToolArguments | undefined> = (
  args: [Args] extends [ToolArguments] ? ParsedArguments<Args> : undefined,
) => string | null | Promise<string | null>;

/** Called without arguments where the tool takes none. */
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
  /** Which provider runs it; for `executionMode: 'provider'` alone. */
  executionProvider?: string;
  /** Whether it may run more than once per call without harm. Default as `quick`; where false, a lost call is reported, not repeated. */
  idempotent?: boolean;
  /** Normally done within 1 second: it may run within the step that calls it. Default false. */
  quick?: boolean;
  /** Its body may `await state.ask(…)`: the call waits for a person, then the body begins again from its start. Default false. */
  asks?: boolean;
  /** Milliseconds for one call; above 0, default 1,800,000 (30 minutes). */
  timeoutMs?: number;
  /** What a call of it needs to be allowed, such as `['records.write']`: judged by the `policy` of an agent that has one. Default none. */
  capabilities?: readonly string[];
  /**
   * Says what a call would do, before the `policy` of the agent judges it: a description, things to look at, more capabilities. It may run
   * more than once for a call, so it must have no effect, and must say the same while the same would be done. Not called where nothing judges the
   * call. What it throws becomes an error result; it has 30 s.
   */
  prepareAction?: PrepareAction<Args>;
  /**
   * A person confirms each call before it begins, also where the agent has no policy: one wait, together with an approval that a rule requires. The
   * text that the function answers says what for; null: this call needs none. It may run more than once for a call, and has 30 s.
   */
  confirm?: true | Confirm<Args>;
  /** Milliseconds that a call waits for an approval, above 0; then it is refused. Default: as long as its execution lasts. */
  approvalTimeoutMs?: number;
}
