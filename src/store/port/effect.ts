/**
 * The store's effects (definitions §10): pending → running → done | failed, or cancelled. Times are microseconds, by the one
 * clock that all processes of a store share.
 * An effect that runs when its worker is lost goes again, three times at most.
 */
import type { ScheduledEffect } from '../../core/author/effect.ts';
import type { StoredError } from '../../core/thread/step.ts';
import type { FromRun } from './run.ts';
import type { ThreadRecord } from './thread.ts';
import type { QueuedTool } from './tool.ts';

export interface NewEffect {
  /** The same id again schedules nothing. */
  readonly id: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly delayMs: number;
}

export type BegunEffect =
  | { readonly kind: 'terminated' }
  /** Nothing is due. `waiting` counts the items in line: a lost worker's effect may have queued some unheard. */
  | { readonly kind: 'none'; readonly waiting: number }
  | {
      readonly kind: 'run';
      readonly effect: ScheduledEffect;
      readonly attempt: number;
      readonly thread: ThreadRecord;
    };

/** The stack goes into the event alone, not into the effect's row. */
export interface EffectFault extends StoredError {
  readonly stack?: string;
}

export interface EndEffect extends FromRun {
  readonly id: string;
  readonly attempt: number;
  readonly error?: EffectFault;
  /** Tools that it queued: in line with its end, or not at all. */
  readonly queuedTools: readonly QueuedTool[];
}

export type EndedEffect =
  /** `waiting` counts the items in line. */
  | { readonly kind: 'stored'; readonly waiting: number }
  /** Another attempt has it, or had it. */
  | { readonly kind: 'late' }
  | { readonly kind: 'terminated' };

export interface BeginEffect extends FromRun {
  /** How many workers an effect may lose before it is given up, whoever's fault that was; absent: three. */
  readonly mayLose?: number;
}

export interface EffectStore {
  /**
   * Answers the milliseconds until the thread's next effect. The same id again schedules nothing. Rejects with
   * `ThreadTerminated`, `ThreadNotFound`, `LimitExceeded`.
   */
  schedule(threadId: string, effect: NewEffect): Promise<number>;
  /** Effects that wait, the next due first. */
  list(threadId: string, name?: string): Promise<ScheduledEffect[]>;
  /** Makes one that waits due now, behind those that are. False for one that does not wait. Rejects with `ThreadNotFound`. */
  hasten(threadId: string, id: string): Promise<boolean>;
  /** True only when it still waited. */
  remove(threadId: string, id: string): Promise<boolean>;
  /**
   * Milliseconds until the next one is due, 0 for one that is late, null where none waits. One that is `begun` counts as
   * late when it is asked for: a new workflow run cannot know whether anybody still runs it.
   */
  next(threadId: string, options?: { readonly begun?: boolean }): Promise<number | null>;
  /**
   * Takes the effect that is due first, as another attempt of it. One that is found begun was a lost worker's: it comes before the
   * others, so this command, given twice, answers the same effect.
   */
  begin(command: BeginEffect): Promise<BegunEffect>;
  /** Settles the effect, once: the same end again answers the same. */
  end(command: EndEffect): Promise<EndedEffect>;
}
