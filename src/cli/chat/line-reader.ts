/**
 * Lines typed by a person or read from a pipe. Input during an answer waits for the next prompt.
 * L1. On a terminal, lines that come faster than anybody types are one pasted text: it is one message, and where its last line has no end
 *     it waits for Enter.
 */
import { createInterface, type Interface } from 'node:readline';

/** Between lines of one paste, which comes in pieces. */
const PASTE_MS = 30;

export interface Terminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  readonly isTerminal: boolean;
}

const ownTerminal = (): Terminal => ({
  input: process.stdin,
  output: process.stdout,
  isTerminal: process.stdin.isTTY === true && process.stdout.isTTY === true,
});

export class LineReader {
  /** Set: Ctrl-C calls it. Unset: Ctrl-C ends the input. */
  onInterrupt: (() => void) | undefined;
  readonly #interface: Interface;
  readonly #terminal: boolean;
  readonly #lines: string[] = [];
  #waiting: ((line: string | undefined) => void) | undefined;
  #closed = false;
  /** L1: lines that may be the beginning of a paste. */
  #pasted: string[] = [];
  #settling: NodeJS.Timeout | undefined;

  constructor(prompt: string, { input, output, isTerminal }: Terminal = ownTerminal()) {
    this.#terminal = isTerminal;
    this.#interface = createInterface({
      input,
      output: this.#terminal ? output : undefined,
      terminal: this.#terminal,
      prompt,
    });
    this.#interface.on('line', (line) => (this.#terminal ? this.#hold(line) : this.#take(line)));
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

  /** L1: until nothing more comes. */
  #hold(line: string): void {
    this.#pasted.push(line);
    clearTimeout(this.#settling);
    this.#settling = setTimeout(() => {
      if (this.#interface.line === '') this.#takePasted();
    }, PASTE_MS);
  }

  #takePasted(): void {
    clearTimeout(this.#settling);
    const text = this.#pasted.join('\n');
    const isEmpty = this.#pasted.length === 0;
    this.#pasted = [];
    if (!isEmpty) this.#take(text);
  }

  #take(line: string): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting) waiting(line);
    else this.#lines.push(line);
  }

  #end(): void {
    this.#takePasted();
    this.#closed = true;
    this.#waiting?.(undefined);
    this.#waiting = undefined;
  }
}
