/**
 * The store's effects (definitions §10): pending → running → done | failed, or cancelled. Times are microseconds, by
 * the one clock that all processes of a store share.
 * An effect whose worker is lost while it runs is attempted again, at most three times in all.
 */
import type { ScheduledEffect } from '../../core/author/thread-effect.ts';
import type { StoredError } from '../../core/thread/step.ts';
import type { ThreadRecord } from '../thread/thread-record.ts';
import type { QueuedTool } from '../tool/tool-record.ts';
import type { FromRun } from '../transaction/from-run.ts';

export interface NewEffect {
  /** Idempotency key: scheduling the same id again has no effect. */
  readonly id: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly delayMs: number;
}

export type BegunEffect =
  | { readonly kind: 'terminated' }
  /**
   * Nothing is due. `waiting`: number of queued items; an effect whose worker was lost may have queued some without
   * notifying the workflow.
   */
  | { readonly kind: 'none'; readonly waiting: number }
  | {
      readonly kind: 'run';
      readonly effect: ScheduledEffect;
      readonly attempt: number;
      readonly thread: ThreadRecord;
    };

/** The stack is written to the event only, not to the effect's row. */
export interface EffectFault extends StoredError {
  readonly stack?: string;
}

export interface EndEffect extends FromRun {
  readonly id: string;
  readonly attempt: number;
  readonly error?: EffectFault;
  /** Tools that the effect queued; queued in the same transaction as its end. */
  readonly queuedTools: readonly QueuedTool[];
}

export type EndedEffect =
  /** `waiting`: number of queued items. */
  | { readonly kind: 'stored'; readonly waiting: number }
  /** Nothing was stored: another attempt has taken over, or the effect no longer runs. */
  | { readonly kind: 'late' }
  | { readonly kind: 'terminated' };

export interface BeginEffect extends FromRun {
  /**
   * Number of workers that may be lost while running the effect, whatever the cause, before it is given up. Default 3.
   */
  readonly mayLose?: number;
}
