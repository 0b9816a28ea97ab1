/** The demo's output: lines of time, speaker and text, and text that arrives piecemeal. Colours only on a terminal. */
import { styleText } from 'node:util';
import { escapeControls } from '../../src/core/value/shown-text.ts';

type Style = Parameters<typeof styleText>[0];

const SPEAKERS = {
  server: 'dim',
  worker: 'cyan',
  you: 'bold',
  librarian: 'yellow',
  cashier: 'yellow',
  reviewer: 'green',
  family: 'blue',
  tool: 'magenta',
  effect: 'blue',
  hook: 'blue',
  waits: 'blue',
  KILL: ['bold', 'red'],
  back: ['bold', 'green'],
  note: 'dim',
} as const satisfies Record<string, Style>;

export type Speaker = keyof typeof SPEAKERS;

const WIDTH = Math.min(process.stdout.columns || 110, 120);
const INDENT = 24;

export class Screen {
  readonly #started = performance.now();
  #streaming = false;
  /** Column of a streamed text; 0 at the beginning of a line. */
  #column = 0;
  /** The last word of a streamed text, which may be incomplete. */
  #held = '';

  /** Prints a line; `label` replaces the speaker's name, such as by `worker A`. */
  say(speaker: Speaker, text: string, label: string = speaker): void {
    this.endStream();
    const [first, ...rest] = wrap(text, WIDTH - INDENT);
    this.#write(`${this.#prefix(speaker, label)}${first ?? ''}\n`);
    for (const line of rest) this.#write(`${' '.repeat(INDENT)}${line}\n`);
  }

  /** Prints lines without wrapping, cut at the width of the screen. */
  block(text: string): void {
    this.endStream();
    for (const line of escapeControls(text).split('\n')) {
      const shown = line.slice(0, WIDTH - INDENT);
      this.#write(shown === '' ? '\n' : `${' '.repeat(INDENT)}${styleText('dim', shown)}\n`);
    }
  }

  /** Prints part of a text. A word is shown when it is complete, on the next line if it does not fit. */
  stream(speaker: Speaker, delta: string): void {
    if (!this.#streaming) {
      this.#write(this.#prefix(speaker, speaker));
      this.#streaming = true;
      this.#column = INDENT;
    }
    const pieces = (this.#held + delta).match(/\n|[^\S\n]*\S+|[^\S\n]+/g) ?? [];
    this.#held = pieces.at(-1) === '\n' ? '' : (pieces.pop() ?? '');
    for (const piece of pieces) this.#streamPiece(piece);
  }

  endStream(): void {
    if (!this.#streaming) return;
    this.#streamPiece(this.#held);
    this.#write('\n');
    this.#held = '';
    this.#streaming = false;
  }

  /** Prints a line break, or a word with the space before it. */
  #streamPiece(piece: string): void {
    if (piece === '\n' || this.#column + piece.length > WIDTH) {
      this.#write('\n');
      this.#column = 0;
    }
    if (piece === '\n' || piece === '') return;
    const shown = this.#column <= INDENT ? piece.trimStart() : piece;
    if (this.#column === 0) this.#write(' '.repeat(INDENT));
    this.#column = Math.max(this.#column, INDENT) + shown.length;
    this.#write(shown);
  }

  heading(text: string): void {
    this.endStream();
    this.#write(`\n${styleText('bold', text)}\n`);
  }

  /** Prints a line without the time. */
  plain(text: string): void {
    this.endStream();
    this.#write(`${text}\n`);
  }

  #prefix(speaker: Speaker, label: string): string {
    const seconds = `${((performance.now() - this.#started) / 1000).toFixed(1)} s`.padStart(7);
    return `${styleText('dim', seconds)}  ${styleText(SPEAKERS[speaker], label.padEnd(INDENT - 9))}`;
  }

  #write(text: string): void {
    process.stdout.write(text);
  }
}

export function wrap(text: string, width: number): string[] {
  return text.split('\n').flatMap((line) => {
    const rows = [''];
    for (const word of line.split(' ')) {
      const row = rows.at(-1) as string;
      if (row !== '' && row.length + 1 + word.length > width) rows.push(word);
      else rows[rows.length - 1] = row === '' ? word : `${row} ${word}`;
    }
    return rows;
  });
}

/** `5.3 s` */
export function toSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
