/** Calls that were made in a part of a history which is copied or left: what they did is neither undone nor done again. */
export interface PastCall {
  readonly callId: string;
  readonly name: string;
  readonly outcome: 'success' | 'error' | 'unknown';
}

/** Most calls, and most names of each kind, that an event lists. */
export const MAX_LISTED = 100;

const OUTCOMES = {
  success: 'succeeded',
  error: 'failed',
  unknown: 'may or may not have taken effect: check before you repeat it',
} as const;

/** In words, for a model. */
export function describePastCall({ callId, name, outcome }: PastCall): string {
  return `the call ${callId} of "${name}" ${OUTCOMES[outcome]}`;
}
