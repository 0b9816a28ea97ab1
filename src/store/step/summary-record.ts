/**
 * Summaries that requests show in place of the older part of a thread's history. The messages themselves stay
 * unchanged.
 */

import type { Summary } from '../../core/context/summary.ts';
import type { CompactionReason } from '../../core/guard/compaction.ts';
import type { StepRef } from '../transaction/from-run.ts';

/** Selects, together with the side, the summaries that apply to a step. */
export interface SummaryKey {
  readonly prompt: string;
  /** The execution, if its prompt is shown only that one; empty if it is shown the whole thread. */
  readonly scope: string;
}

export interface KeepSummary extends StepRef, SummaryKey {
  readonly summary: Summary;
  /** The last message that it covers. */
  readonly messageId: string;
  /** Number of messages that were summarised for this summary. */
  readonly count: number;
  readonly reason: CompactionReason;
  /** True if no model has written it. */
  readonly fallback: boolean;
  /** Last number of the log when the messages were read: a later change of a message makes the summary outdated. */
  readonly seen: number;
}

export type KeptSummary =
  /** The summary that is stored for the key, perhaps by another caller. */
  | { readonly kind: 'kept'; readonly summary: Summary }
  /** A message was changed or removed since then: nothing was written. */
  | { readonly kind: 'outdated' }
  /** Another attempt has the step, or it is over: nothing was written. */
  | { readonly kind: 'closed' }
  | { readonly kind: 'terminated' };
