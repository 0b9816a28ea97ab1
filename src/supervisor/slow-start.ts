/**
 * If a worker process is not ready after five seconds, reports what it is doing, and repeats that less and less often.
 * The supervisor reports it, because the event loop of the process itself may be blocked or starved.
 */
const FIRST_MS = 5_000;
const MAX_INTERVAL_MS = 20_000;

export class SlowStart {
  readonly #onSlow: (doing: string, forMs: number) => void;
  #begun = performance.now();
  #currentStep = 'starting its process';
  #timer: NodeJS.Timeout | undefined;
  #paused = false;

  constructor(onSlow: (doing: string, forMs: number) => void) {
    this.#onSlow = onSlow;
    this.#wait(FIRST_MS);
  }

  at(doing: string): void {
    this.#currentStep = doing;
    if (!this.#paused) return;
    this.#paused = false;
    this.#begun = performance.now();
    this.#wait(FIRST_MS);
  }

  /** Reports nothing until the next `at`: the process waits for a person, so it is not slow. */
  pause(): void {
    clearTimeout(this.#timer);
    this.#paused = true;
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#paused = false;
  }

  #wait(milliseconds: number): void {
    this.#timer = setTimeout(() => {
      this.#onSlow(this.#currentStep, performance.now() - this.#begun);
      this.#wait(Math.min(MAX_INTERVAL_MS, milliseconds * 2));
    }, milliseconds);
  }
}
