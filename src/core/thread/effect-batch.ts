/** What crosses Temporal for a thread's scheduled effects (definitions §10), as `step.ts` does for its steps. */
import type { RunRef } from './step.ts';

/**
 * Part of an activity's answer: milliseconds until the next effect is due, 0 if it is overdue. Absent if no effect is
 * pending.
 */
export interface EffectsDue {
  readonly effectsInMs?: number;
}

/** A batch of effects; `most` limits its size if a step is waiting for it to end. */
export interface RunEffectsInput extends RunRef {
  readonly most?: number;
}

export type RunEffectsOutcome =
  | {
      readonly kind: 'done';
      /** How many ran, whatever their outcome. */
      readonly ran: number;
      /** Queued items, from any sender. */
      readonly waiting: number;
    }
  | { readonly kind: 'terminated' };
