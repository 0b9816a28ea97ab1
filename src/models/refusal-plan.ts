/**
 * Decides what follows the refusal of a provider that is busy (refusal.ts). Pure.
 * - With another model left, the second refusal moves on to it, and so does a wait of more than LONG_WAIT_MS.
 * - The last model is asked until its time is over. A wait that ends later ends the attempts at once.
 */
/** Milliseconds. */
export const LONG_WAIT_MS = 10_000;
const REFUSALS_BEFORE_FALLBACK = 2;

export interface RefusedAttempt {
  /** Refusals of this model for this answer, this one included. */
  readonly refusals: number;
  /** Until the model may be asked again. */
  readonly waitMs: number;
  readonly leftMs: number;
  readonly modelsLeft: number;
}

export type MoveAfterRefusal =
  | { readonly next: 'retry'; readonly willRetryInMs: number }
  | { readonly next: 'fallback' | 'give_up' };

export function planAfterRefusal({ refusals, waitMs, leftMs, modelsLeft }: RefusedAttempt): MoveAfterRefusal {
  const movesOn = modelsLeft > 0 && (refusals >= REFUSALS_BEFORE_FALLBACK || waitMs > LONG_WAIT_MS);
  if (!movesOn && waitMs < leftMs) return { next: 'retry', willRetryInMs: Math.ceil(waitMs) };
  return { next: modelsLeft > 0 ? 'fallback' : 'give_up' };
}
