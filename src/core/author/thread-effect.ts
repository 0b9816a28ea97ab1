/** A pending effect. Times are microseconds since 1970. */
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
   * Schedules an effect of this thread and returns its id. `delay` is the minimum time before it fires, in
   * milliseconds. It fires at least once; during a turn, between two steps. Rejects with `EffectNotFound`,
   * `InvalidValue` (arguments that are not JSON, a delay that is not a number), `LimitExceeded` or `ThreadTerminated`.
   * If a tool call is repeated, the effect is scheduled once.
   */
  scheduleEffect(name: string, args?: Readonly<Record<string, unknown>>, delay?: number): Promise<string>;
  /** Returns pending effects, of one name or all, the next due first. */
  getScheduledEffects(name?: string): Promise<ScheduledEffect[]>;
  /** True only if the effect was still pending and now never fires. */
  removeScheduledEffect(id: string): Promise<boolean>;
}
