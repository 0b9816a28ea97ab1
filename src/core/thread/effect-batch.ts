/** What crosses Temporal where a thread has scheduled effects (definitions §10), as `step.ts` has it for its steps. */
import type { RunRef } from './step.ts';

/**
 * Part of an answer where effects wait: the milliseconds until the next one is due, 0 for one that is late. Absent where
 * none waits.
 */
export interface EffectsDue {
  readonly effectsInMs?: number;
}

/** A batch of effects, of so many at most where a step waits behind it. */
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
