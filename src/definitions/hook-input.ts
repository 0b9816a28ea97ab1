/** What authors pass to `defineHook` (definitions §9). Types alone; `define-hook.ts` checks them. */
import type { HookName, HookSignatures } from '../core/author/hook.ts';

export interface HookInput<Name extends HookName> {
  /** The point of a thread's life at which it runs. */
  hook: Name;
  /** Its identity: it runs only for prompts and agents that list it under `hooks`. snake_case advised. */
  id: string;
  /** Hooks with a higher priority run first; those with equal priority run in the order of the list. Default 0. */
  priority?: number;
  /**
   * Its arguments and result depend on `hook`. An error that it throws is logged, and the chain continues;
   * docs/hooks.md lists the exceptions.
   */
  execute: HookSignatures[Name];
}
