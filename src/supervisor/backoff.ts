/** The pause before a worker process is started again: longer each time, and short again after it has worked for a while. */
const FIRST_MS = 200;
const LONGEST_MS = 30_000;
const HEALTHY_MS = 60_000;

export class Backoff {
  #failures = 0;

  /** `workedMs`: from ready to its end; 0 where it never was ready. */
  next(workedMs: number): number {
    if (workedMs >= HEALTHY_MS) this.#failures = 0;
    const wait = Math.min(LONGEST_MS, FIRST_MS * 2 ** this.#failures);
    this.#failures += 1;
    return wait;
  }
}
