/**
 * One line at the bottom of a terminal that shows what is going on and for how long. It is erased completely.
 * A1. Nothing is written unless standard error is a terminal, so that logs and pipes contain only messages.
 */

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 120;
/** Milliseconds before the line appears: shorter work shows none, which would only flicker. */
const DELAY_MS = 300;
const CLEAR = '\r\u001b[2K';

export interface ActivityOutput {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

export class ActivityLine {
  readonly #output: ActivityOutput;
  #text = '';
  #since = 0;
  #shown = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(output: ActivityOutput = process.stderr) {
    this.#output = output;
  }

  /** Shows the text; the time keeps counting if the text stays the same. */
  show(text: string): void {
    // A1: not a terminal.
    if (!this.#output.isTTY) return;
    if (text !== this.#text || this.#since === 0) this.#since = performance.now();
    this.#text = text;
    this.#timer ??= setInterval(() => this.#draw(), FRAME_MS).unref();
  }

  /** Erases the line; to be called before anything else is written to the terminal. */
  hide(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    if (this.#shown) this.#output.write(CLEAR);
    this.#shown = false;
  }

  #draw(): void {
    const ms = performance.now() - this.#since;
    if (ms < DELAY_MS) return;
    const frame = FRAMES[Math.floor(ms / FRAME_MS) % FRAMES.length];
    const line = `${frame} ${this.#text} ${Math.floor(ms / 1000)}s`;
    this.#output.write(`${CLEAR}\u001b[2m${line.slice(0, (this.#output.columns ?? 80) - 1)}\u001b[22m`);
    this.#shown = true;
  }
}
