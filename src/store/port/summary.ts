/** Summaries of the older part of a thread's history, in place of which requests show them. The messages stay as they are. */

import type { Summary } from '../../core/context/summary.ts';
import type { CompactionReason } from '../../core/guard/compaction.ts';
import type { StepRef } from './step.ts';

/** Whose summaries count for a step, beside its side. */
export interface SummaryKey {
  readonly prompt: string;
  /** The execution, where its prompt is shown that one alone; empty where it is shown the whole thread. */
  readonly scope: string;
}

export interface KeepSummary extends StepRef, SummaryKey {
  readonly summary: Summary;
  /** The last message that it covers. */
  readonly messageId: string;
  /** How many messages were summarised now. */
  readonly count: number;
  readonly reason: CompactionReason;
  /** No model has written it. */
  readonly fallback: boolean;
  /** The log's last number as the messages were read: what was changed since then is not what was summarised. */
  readonly seen: number;
}

export type KeptSummary =
  /** What is kept for the key, whoever made it. */
  | { readonly kind: 'kept'; readonly summary: Summary }
  /** A message was changed or removed meanwhile: nothing was written. */
  | { readonly kind: 'outdated' }
  /** Another attempt has the step, or it is over: nothing was written. */
  | { readonly kind: 'closed' }
  | { readonly kind: 'terminated' };
