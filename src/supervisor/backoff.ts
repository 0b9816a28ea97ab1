/** The pause before a worker process is restarted: doubles each time; resets once a process has worked for a minute. */
const FIRST_MS = 200;
const MAX_PAUSE_MS = 30_000;
const HEALTHY_MS = 60_000;

export class Backoff {
  #failures = 0;

  /** Returns the next pause in milliseconds. `workedMs`: time from ready to the end of the process; 0 if not ready. */
  next(workedMs: number): number {
    if (workedMs >= HEALTHY_MS) this.#failures = 0;
    const wait = Math.min(MAX_PAUSE_MS, FIRST_MS * 2 ** this.#failures);
    this.#failures += 1;
    return wait;
  }
}
