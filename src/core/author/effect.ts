/** Scheduled effects (definitions §10): author code that a thread runs later, durably. */
import type { AuthorSchema } from './definition.ts';
import type { ThreadState } from './thread-state.ts';

export interface EffectDefinition {
  readonly kind: 'effect';
  /** From the file's name; set by discovery. */
  readonly name: string;
  readonly description: string;
  readonly args?: AuthorSchema;
  readonly execute: (state: ThreadState, args?: never) => Promise<void> | void;
}

/** An effect that waits for its time. Times are microseconds since 1970. */
export interface ScheduledEffect {
  readonly id: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** When it is due; it fires then or later. */
  readonly scheduledAt: number;
  readonly createdAt: number;
}

/** The part of ThreadState that schedules effects (definitions §10). */
export interface ThreadEffects {
  /**
   * Schedules an effect of this thread and answers its id. `delay` is the least number of milliseconds before it fires; it fires
   * at least once, during a turn between its steps. Rejects with `EffectNotFound`, `InvalidValue` (arguments that are not JSON, a delay that is
   * not a number), `LimitExceeded` or `ThreadTerminated`. A tool call that is repeated schedules it once.
   */
  scheduleEffect(name: string, args?: Readonly<Record<string, unknown>>, delay?: number): Promise<string>;
  /** Effects that still wait, of one name or all, the next due first. */
  getScheduledEffects(name?: string): Promise<ScheduledEffect[]>;
  /** True only when it still waited and now never fires. */
  removeScheduledEffect(id: string): Promise<boolean>;
}
