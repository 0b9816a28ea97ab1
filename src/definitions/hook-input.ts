/** What authors pass to `defineHook` (definitions §9). Types alone; `define-hook.ts` checks them. */
import type { HookName, HookSignatures } from '../core/author/hook.ts';

export interface HookInput<Name extends HookName> {
  /** The point of a thread's life at which it runs. */
  hook: Name;
  /** Its identity: it runs only for prompts and agents that list it under `hooks`. snake_case advised. */
  id: string;
  /** Those with a higher one run first; in the order of the list where it is equal. 0 where absent. */
  priority?: number;
  /** Its arguments and result depend on `hook`. What it throws is logged, and the chain continues. */
  execute: HookSignatures[Name];
}
