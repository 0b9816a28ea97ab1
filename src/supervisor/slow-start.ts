/**
 * Reports what a worker process is doing that is not ready after some seconds, and repeats that less and less often.
 * Reported from outside, because the process's own event loop may be blocked or starved.
 */
const FIRST_MS = 5_000;
const LONGEST_MS = 20_000;

export class SlowStart {
  readonly #tell: (doing: string, forMs: number) => void;
  readonly #begun = performance.now();
  #doing = 'starting its process';
  #timer: NodeJS.Timeout | undefined;

  constructor(tell: (doing: string, forMs: number) => void) {
    this.#tell = tell;
    this.#wait(FIRST_MS);
  }

  at(doing: string): void {
    this.#doing = doing;
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #wait(milliseconds: number): void {
    this.#timer = setTimeout(() => {
      this.#tell(this.#doing, performance.now() - this.#begun);
      this.#wait(Math.min(LONGEST_MS, milliseconds * 2));
    }, milliseconds);
  }
}
