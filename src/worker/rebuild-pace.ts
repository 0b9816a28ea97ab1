/**
 * Decides how often workflow contexts are rebuilt, and when a thread that caused a rebuild is tried again. Pure: the
 * time is an argument.
 * - The first rebuild is immediate; each further one within a minute waits twice as long, eight seconds at most.
 * - A thread that timed out is refused for five seconds, then twice as long each time, ten minutes at most. In the
 *   meantime the other threads have the worker. After an hour without a timeout its count starts again at zero.
 */
const REBUILD_WINDOW_MS = 60_000;
const FIRST_WAIT_MS = 250;
const MAX_WAIT_MS = 8000;
const FIRST_REFUSAL_MS = 5000;
const MAX_REFUSAL_MS = 600_000;
const FORGOTTEN_AFTER_MS = 3_600_000;
const MAX_STRIKES_KEPT = 1000;

interface Strikes {
  readonly count: number;
  readonly last: number;
  readonly until: number;
}

export class RebuildPace {
  #rebuilds: number[] = [];
  readonly #strikes = new Map<string, Strikes>();

  /** Records a rebuild and returns how many milliseconds it must wait. */
  beginRebuild(now: number): number {
    this.#rebuilds = this.#rebuilds.filter((time) => now - time < REBUILD_WINDOW_MS);
    const before = this.#rebuilds.length;
    this.#rebuilds.push(now);
    return before === 0 ? 0 : Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (before - 1));
  }

  /** Records a timeout of the thread; returns how often it has timed out, and how long it is refused. */
  strike(workflowId: string, now: number): { readonly count: number; readonly refusedMs: number } {
    const count = (this.#find(workflowId, now)?.count ?? 0) + 1;
    const refusedMs = Math.min(MAX_REFUSAL_MS, FIRST_REFUSAL_MS * 2 ** (count - 1));
    this.#strikes.delete(workflowId);
    this.#strikes.set(workflowId, { count, last: now, until: now + refusedMs });
    const [oldest] = this.#strikes.keys();
    if (this.#strikes.size > MAX_STRIKES_KEPT && oldest !== undefined) this.#strikes.delete(oldest);
    return { count, refusedMs };
  }

  /** The time until which the thread is refused; undefined if it is not. */
  refusedUntil(workflowId: string, now: number): number | undefined {
    const until = this.#find(workflowId, now)?.until;
    return until !== undefined && now < until ? until : undefined;
  }

  #find(workflowId: string, now: number): Strikes | undefined {
    const strikes = this.#strikes.get(workflowId);
    return strikes && now - strikes.last < FORGOTTEN_AFTER_MS ? strikes : undefined;
  }
}
