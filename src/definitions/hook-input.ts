/** What authors pass to `defineHook` (definitions §9). Types alone; `define-hook.ts` checks them. */
import type { HookName, HookSignatures } from '../core/hook.ts';

export interface HookInput<Name extends HookName> {
  /** The point of a thread's life at which it runs. */
  hook: Name;
  /** Its identity: prompts and agents list it under `hooks`, and only then it runs. snake_case advised. */
  id: string;
  /** What it is given and may return depends on `hook`. What it throws is logged, and the chain goes on. */
  execute: HookSignatures[Name];
}
