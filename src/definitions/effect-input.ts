/** What authors pass to `defineEffect` (definitions §10). Types alone; `define-effect.ts` checks them. */
import type { AnyThreadState, ThreadState } from '../core/author/thread-state.ts';
import type { ParsedArguments, ToolArguments } from './tool-input.ts';

/** Handler that runs when the effect is due; `args` are parsed, with defaults filled in. */
export type ExecuteEffect<
  Args extends ToolArguments | undefined,
  State extends AnyThreadState = ThreadState,
> = [Args] extends [ToolArguments]
  ? (state: State, args: ParsedArguments<Args>) => Promise<void> | void
  : (state: State, noArguments: undefined) => Promise<void> | void;

/** The object form of `defineEffect`. */
export interface EffectInput<
  Args extends ToolArguments | undefined = undefined,
  State extends AnyThreadState = ThreadState,
> {
  /** A description for people. */
  description: string;
  /** A `z.object(…)`; without it the effect takes no arguments. Checked when the effect runs. */
  args?: Args;
  /** Runs at least once for each time it is scheduled, so a second run should do no harm. */
  execute: ExecuteEffect<Args, State>;
}
