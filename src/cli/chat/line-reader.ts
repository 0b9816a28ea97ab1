/**
 * Lines typed by a person or read from a pipe. Input during an answer waits for the next prompt.
 * - Pasted text is one message, which Enter sends. The terminal marks pasted text if it can (bracketed paste). If it
 *   cannot, lines that arrive faster than anybody types count as a paste, and a last line without an end waits for
 *   Enter.
 * - Text typed ahead is a message, never the answer to a question asked later. Ctrl-C and the end of the input leave
 *   a question unanswered.
 */
import { createInterface, type Interface } from 'node:readline';

/** The escape sequences that switch bracketed paste on and off. */
const [MARK_PASTES, MARK_NOTHING] = ['\u001b[?2004h', '\u001b[?2004l'];
/** Milliseconds without a new line after which a paste is complete. */
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
  /** Called on Ctrl-C. If unset, Ctrl-C ends the input. */
  onInterrupt: (() => void) | undefined;
  readonly #interface: Interface;
  readonly #prompt: string;
  readonly #terminal: boolean;
  readonly #lines: string[] = [];
  #lineWaiter: ((line: string | undefined) => void) | undefined;
  /** Resolves the question that is being asked. */
  #questionWaiter: ((line: string | undefined) => void) | undefined;
  #closed = false;
  /** Lines that may be the beginning of a paste. */
  #pasted: string[] = [];
  /** True while the terminal marks the input as pasted. */
  #pasting = false;
  /** True if marked pasted text is at the prompt; Enter sends it. */
  #hasMarkedPaste = false;
  readonly #output: NodeJS.WritableStream | undefined;
  #pasteTimer: NodeJS.Timeout | undefined;

  constructor(prompt: string, { input, output, isTerminal }: Terminal = ownTerminal()) {
    this.#terminal = isTerminal;
    this.#output = isTerminal ? output : undefined;
    this.#interface = createInterface({
      input,
      output: this.#terminal ? output : undefined,
      terminal: this.#terminal,
      prompt,
    });
    this.#interface.on('line', (line) => (this.#terminal ? this.#holdLine(line) : this.#deliverLine(line)));
    this.#interface.on('close', () => this.#end());
    if (this.#terminal) this.#enablePasteMarks(input);
    this.#interface.on('SIGINT', () => {
      if (this.onInterrupt) this.onInterrupt();
      else this.#interface.close();
      this.#answerQuestion(undefined);
    });
    this.#prompt = prompt;
  }

  #enablePasteMarks(input: NodeJS.ReadableStream): void {
    this.#output?.write(MARK_PASTES);
    input.on('keypress', (_text: unknown, { name }: { readonly name?: string } = {}) => {
      if (name === 'paste-start') this.#pasting = true;
      if (name !== 'paste-end') return;
      this.#pasting = false;
      this.#hasMarkedPaste = true;
    });
  }

  /** True if the input comes from a terminal. */
  get interactive(): boolean {
    return this.#terminal;
  }

  /** Resolves to the next line; undefined if there are no more. */
  next(): Promise<string | undefined> {
    const line = this.#lines.shift();
    if (line !== undefined) return Promise.resolve(line);
    if (this.#closed) return Promise.resolve(undefined);
    if (this.#terminal) this.#interface.prompt();
    return new Promise((resolve) => {
      this.#lineWaiter = resolve;
    });
  }

  /** Resolves to the line typed after the question; undefined if there is none. */
  async ask(question: string): Promise<string | undefined> {
    if (this.#closed) return undefined;
    this.#deliverPasted();
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    this.#questionWaiter = resolve;
    this.#interface.setPrompt(question);
    this.#interface.prompt();
    try {
      return await promise;
    } finally {
      this.#interface.setPrompt(this.#prompt);
    }
  }

  /** Passes the line to the question being asked; false if there is none. */
  #answerQuestion(line: string | undefined): boolean {
    const asking = this.#questionWaiter;
    this.#questionWaiter = undefined;
    asking?.(line);
    return asking !== undefined;
  }

  close(): void {
    this.#interface.close();
  }

  /** Holds the line back until no more lines arrive. */
  #holdLine(line: string): void {
    // A question takes the first line at once, even if more lines of a paste follow.
    if (this.#answerQuestion(line)) return;
    this.#pasted.push(line);
    clearTimeout(this.#pasteTimer);
    if (this.#pasting) return;
    if (this.#hasMarkedPaste) {
      this.#deliverPasted();
      return;
    }
    this.#pasteTimer = setTimeout(() => {
      if (this.#interface.line === '') this.#deliverPasted();
    }, PASTE_MS);
  }

  #deliverPasted(): void {
    clearTimeout(this.#pasteTimer);
    const text = this.#pasted.join('\n');
    const isEmpty = this.#pasted.length === 0;
    this.#pasted = [];
    this.#hasMarkedPaste = false;
    if (!isEmpty) this.#deliverLine(text);
  }

  #deliverLine(line: string): void {
    if (this.#answerQuestion(line)) return;
    const waiting = this.#lineWaiter;
    this.#lineWaiter = undefined;
    if (waiting) waiting(line);
    else this.#lines.push(line);
  }

  #end(): void {
    this.#output?.write(MARK_NOTHING);
    this.#deliverPasted();
    this.#closed = true;
    this.#answerQuestion(undefined);
    this.#lineWaiter?.(undefined);
    this.#lineWaiter = undefined;
  }
}
