/**
 * The store's effects (definitions §10): pending → running → done | failed, or cancelled. Times are microseconds, by
 * the one clock that all processes of a store share.
 * An effect whose worker is lost while it runs is attempted again, at most three times in all.
 */
import type { ScheduledEffect } from '../../core/author/effect.ts';
import type { StoredError } from '../../core/thread/step.ts';
import type { FromRun } from './run.ts';
import type { ThreadRecord } from './thread.ts';
import type { QueuedTool } from './tool.ts';

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

export interface EffectStore {
  /**
   * Returns the milliseconds until the thread's next effect is due. Scheduling the same id again has no effect. Rejects
   * with `ThreadTerminated`, `ThreadNotFound`, `LimitExceeded`.
   */
  schedule(threadId: string, effect: NewEffect): Promise<number>;
  /** Pending effects, ordered by due time. */
  list(threadId: string, name?: string): Promise<ScheduledEffect[]>;
  /**
   * Makes a pending effect due now, after those that are already due. False if it is not pending. Rejects with
   * `ThreadNotFound`.
   */
  hasten(threadId: string, id: string): Promise<boolean>;
  /** Cancels a pending effect. False if it is not pending. */
  remove(threadId: string, id: string): Promise<boolean>;
  /**
   * Milliseconds until the next pending effect is due: 0 if it is overdue, null if none is pending. With `begun`, a
   * running effect counts as overdue: a new workflow run cannot know whether a worker still runs it.
   */
  next(threadId: string, options?: { readonly begun?: boolean }): Promise<number | null>;
  /**
   * Begins the effect that is due first, as a new attempt. An effect found running belonged to a lost worker and comes
   * first, so the same command given twice returns the same effect.
   */
  begin(command: BeginEffect): Promise<BegunEffect>;
  /** Settles the effect once; the same end again returns the same result. */
  end(command: EndEffect): Promise<EndedEffect>;
}
