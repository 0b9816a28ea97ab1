/** Lines typed by a person or read from a pipe. Input during an answer waits for the next prompt. */
import { createInterface, type Interface } from 'node:readline';

export class LineReader {
  /** Set: Ctrl-C calls it. Unset: Ctrl-C ends the input. */
  onInterrupt: (() => void) | undefined;
  readonly #interface: Interface;
  readonly #terminal: boolean;
  readonly #lines: string[] = [];
  #waiting: ((line: string | undefined) => void) | undefined;
  #closed = false;

  constructor(prompt: string) {
    this.#terminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
    this.#interface = createInterface({
      input: process.stdin,
      output: this.#terminal ? process.stdout : undefined,
      terminal: this.#terminal,
      prompt,
    });
    this.#interface.on('line', (line) => this.#take(line));
    this.#interface.on('close', () => this.#end());
    this.#interface.on('SIGINT', () => (this.onInterrupt ? this.onInterrupt() : this.#interface.close()));
  }

  /** Input comes from a terminal. */
  get interactive(): boolean {
    return this.#terminal;
  }

  /** The next line; undefined when there are no more. */
  next(): Promise<string | undefined> {
    const line = this.#lines.shift();
    if (line !== undefined) return Promise.resolve(line);
    if (this.#closed) return Promise.resolve(undefined);
    if (this.#terminal) this.#interface.prompt();
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  close(): void {
    this.#interface.close();
  }

  #take(line: string): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting) waiting(line);
    else this.#lines.push(line);
  }

  #end(): void {
    this.#closed = true;
    this.#waiting?.(undefined);
    this.#waiting = undefined;
  }
}
