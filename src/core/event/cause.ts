/** Causes as events have them: why something waited, was tried again, or ended without a result of its own. */

/**
 * `queuedMs`: milliseconds from when Temporal scheduled the activity until a worker began it, by the clocks of both. Set
 * on what the activity begins first; absent below QUEUED_SHOWN_MS.
 */
export interface WithQueueTime {
  readonly queuedMs?: number;
}

/**
 * Waits below this are not logged: a worker with a free slot takes work within some tens of milliseconds, so a row would
 * say nothing, and each step would pay its bytes.
 */
export const QUEUED_SHOWN_MS = 100;

/** Why a step has another attempt. */
export type RetryCause = 'worker_lost' | 'worker_shutdown' | 'budget';
/** Why no model has written a summary: it failed, returned no text, the budget denied it, or messages were changed meanwhile. */
export type SnippetCause = 'failed' | 'empty' | 'budget' | 'edited';
/** Why a model takes no request for now. */
export type HoldCause = 'refusals' | 'concurrency';
/** How a call ended that has no result of its own. */
export type SettleCause = 'stopped' | 'terminated' | 'ended' | 'budget' | 'reconciled';
