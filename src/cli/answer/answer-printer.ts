/**
 * Shows an answer while it arrives, for `--wait` and `chat`: its text on standard output, everything else (tool calls,
 * errors) as dim lines on standard error, so that `answer=$(everthread threads send ID TEXT --wait)` holds only the answer.
 */

import type { Side } from '../../core/author/thread-execution.ts';
import { escapeControls, shorten } from '../../core/value/shown-text.ts';
import type { Wait } from '../../store/wait/wait-record.ts';
import { commandName } from '../command-name.ts';
import { dimNote, note, write } from '../output/output.ts';
import type { AnswerPart } from './answer-stream.ts';

export interface AnswerSink {
  show(part: AnswerPart): void;
  /** Shows people a note that is not part of the answer. */
  tell(text: string): void;
  /** Called before the wait; `end` after it. */
  begin(): void;
  end(): void;
  /** The text of the newest answer. */
  readonly answer: string | null;
}

const MAX_LINE_LENGTH = 100;
const MAX_NAME_LENGTH = 40;
const THINKING = 'thinking';

export class AnswerPrinter implements AnswerSink {
  readonly #quiet: boolean;
  readonly #activity: ActivityLine;
  #text = '';
  /** True if the current line has text and no line break yet. */
  #open = false;
  #activityText = THINKING;
  #answer: string | null = null;
  #side: Side = 'a';

  /** If `quiet`, collects the answer and shows nothing, for `--json`. */
  constructor({ quiet, activity = new ActivityLine() }: { quiet: boolean; activity?: ActivityLine }) {
    this.#quiet = quiet;
    this.#activity = activity;
  }

  get answer(): string | null {
    return this.#answer;
  }

  begin(): void {
    this.#showActivity();
  }

  end(): void {
    this.#activity.hide();
  }

  tell(text: string): void {
    this.#interrupt(text);
    this.#showActivity();
  }

  /**
   * Shows a note in the middle of an answer. Only a terminal gets the line break before it: it is not part of the
   * answer.
   */
  #interrupt(text: string): void {
    if (this.#open && process.stdout.isTTY) this.#write('\n');
    this.#activity.hide();
    dimNote(text);
  }

  /** Shows the activity line in a terminal while no text is being written. */
  #showActivity(): void {
    if (!this.#quiet && !this.#open) this.#activity.show(this.#activityText);
  }

  show(part: AnswerPart): void {
    if (part.kind === 'tool_call') this.#activityText = shorten(part.name, MAX_NAME_LENGTH);
    if (part.kind === 'tool_result') this.#activityText = THINKING;
    this.#print(part);
    this.#showActivity();
  }

  #print(part: AnswerPart): void {
    switch (part.kind) {
      case 'text':
        this.#printSide(part.side);
        this.#text += part.delta;
        this.#write(escapeControls(part.delta));
        break;
      case 'restart':
        this.#text = '';
        this.#write(`${this.#open ? '\n' : ''}(discarded)\n`);
        break;
      case 'end':
        this.#answer = this.#text;
        this.#text = '';
        this.#write(`${part.stopped ? ' (stopped)' : ''}${this.#open || part.stopped ? '\n' : ''}`);
        break;
      case 'message':
        if (part.role === 'assistant' && !part.silent) this.#addMessage(part.content);
        break;
      case 'tool_call':
        this.#printNote(
          `· ${shorten(`${part.name} ${part.arguments === '{}' ? '' : part.arguments}`, MAX_LINE_LENGTH)}`,
        );
        break;
      case 'tool_result':
        if (part.status === 'error') this.#printNote(`  ${shorten(part.content, MAX_LINE_LENGTH)}`);
        break;
      case 'trouble':
        if (!this.#quiet) this.#interrupt(`  (${shorten(part.text, 3 * MAX_LINE_LENGTH)})`);
        break;
      case 'status':
        break;
    }
  }

  /** Names the side whose text follows, if a thread has two AI sides. */
  #printSide(side: Side): void {
    if (side !== this.#side) this.#printNote(`· side ${side}`);
    this.#side = side;
  }

  /** An assistant message that no step made. */
  #addMessage(content: string): void {
    this.#answer = content;
    this.#write(`${escapeControls(content)}\n`);
  }

  #write(text: string): void {
    if (this.#quiet || text === '') return;
    this.#activity.hide();
    write(text);
    this.#open = !text.endsWith('\n');
  }

  #printNote(text: string): void {
    if (this.#open) this.#write('\n');
    if (this.#quiet) return;
    this.#activity.hide();
    dimNote(text);
  }
}

/** Prints what a thread waits for and the commands that answer it, when a command that shows a thread's work ends. */
export function printWaits(waits: readonly Wait[]): void {
  for (const { id, kind, name, summary } of waits) {
    const how =
      kind === 'approval' || kind === 'paused' ? '--approve (or --deny)' : '--value JSON (or --deny)';
    note(`The thread waits for input: ${kind} of ${shorten(name, 64)}: ${shorten(summary, 200)}`);
    note(`  ${commandName()} waits answer ${id} ${how}`);
  }
}

/**
 * One line at the bottom of a terminal that shows what is going on and for how long. It is erased completely.
 * - The line is shown only if standard error is a terminal: logs and pipes contain only messages.
 */
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 120;
/** Milliseconds before the line appears: shorter work shows none, which would only flicker. */
const DELAY_MS = 300;
const CLEAR = '\r\u001b[2K';

interface ActivityOutput {
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
    // Not a terminal.
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
