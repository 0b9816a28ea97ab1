/**
 * Lines typed by a person or read from a pipe. Input during an answer waits for the next prompt.
 * L1. A text that is pasted is one message, which Enter sends. The terminal is asked to mark what is pasted (bracketed paste). In one that cannot,
 *     lines that come faster than anybody types are taken for a paste, and where the last of them has no end it waits for Enter.
 * L2. What was typed ahead is a message, and no answer to a question that is asked later. Ctrl-C and the end of the input leave a question without one.
 */
import { createInterface, type Interface } from 'node:readline';

/** L1: marks on, marks off. */
const [MARK_PASTES, MARK_NOTHING] = ['\u001b[?2004h', '\u001b[?2004l'];
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
  readonly #prompt: string;
  readonly #terminal: boolean;
  readonly #lines: string[] = [];
  #waiting: ((line: string | undefined) => void) | undefined;
  /** L2: what is asked waits for this. */
  #asking: ((line: string | undefined) => void) | undefined;
  #closed = false;
  /** L1: lines that may be the beginning of a paste. */
  #pasted: string[] = [];
  /** L1: what comes is being pasted, as the terminal says. */
  #pasting = false;
  /** L1: what was pasted stands at the prompt, and Enter sends it. */
  #marked = false;
  readonly #output: NodeJS.WritableStream | undefined;
  #settling: NodeJS.Timeout | undefined;

  constructor(prompt: string, { input, output, isTerminal }: Terminal = ownTerminal()) {
    this.#terminal = isTerminal;
    this.#output = isTerminal ? output : undefined;
    this.#interface = createInterface({
      input,
      output: this.#terminal ? output : undefined,
      terminal: this.#terminal,
      prompt,
    });
    this.#interface.on('line', (line) => (this.#terminal ? this.#hold(line) : this.#take(line)));
    this.#interface.on('close', () => this.#end());
    if (this.#terminal) this.#markPastes(input);
    this.#interface.on('SIGINT', () => {
      if (this.onInterrupt) this.onInterrupt();
      else this.#interface.close();
      this.#answer(undefined);
    });
    this.#prompt = prompt;
  }

  #markPastes(input: NodeJS.ReadableStream): void {
    this.#output?.write(MARK_PASTES);
    input.on('keypress', (_text: unknown, { name }: { readonly name?: string } = {}) => {
      if (name === 'paste-start') this.#pasting = true;
      if (name !== 'paste-end') return;
      this.#pasting = false;
      this.#marked = true;
    });
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

  /** L2: the line that is typed now; undefined where there is none. */
  async ask(question: string): Promise<string | undefined> {
    if (this.#closed) return undefined;
    this.#takePasted();
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    this.#asking = resolve;
    this.#interface.setPrompt(question);
    this.#interface.prompt();
    try {
      return await promise;
    } finally {
      this.#interface.setPrompt(this.#prompt);
    }
  }

  /** Whether something was asked. */
  #answer(line: string | undefined): boolean {
    const asking = this.#asking;
    this.#asking = undefined;
    asking?.(line);
    return asking !== undefined;
  }

  close(): void {
    this.#interface.close();
  }

  /** L1: until nothing more comes. */
  #hold(line: string): void {
    // Whoever is asked has to see no more of it than what was typed.
    if (this.#answer(line)) return;
    this.#pasted.push(line);
    clearTimeout(this.#settling);
    if (this.#pasting) return;
    if (this.#marked) {
      this.#takePasted();
      return;
    }
    this.#settling = setTimeout(() => {
      if (this.#interface.line === '') this.#takePasted();
    }, PASTE_MS);
  }

  #takePasted(): void {
    clearTimeout(this.#settling);
    const text = this.#pasted.join('\n');
    const isEmpty = this.#pasted.length === 0;
    this.#pasted = [];
    this.#marked = false;
    if (!isEmpty) this.#take(text);
  }

  #take(line: string): void {
    if (this.#answer(line)) return;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting) waiting(line);
    else this.#lines.push(line);
  }

  #end(): void {
    this.#output?.write(MARK_NOTHING);
    this.#takePasted();
    this.#closed = true;
    this.#answer(undefined);
    this.#waiting?.(undefined);
    this.#waiting = undefined;
  }
}
