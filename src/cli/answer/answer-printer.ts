/**
 * Shows an answer while it arrives, for `--wait` and `chat`: its text on standard output, everything else (tool calls,
 * errors) as dim lines on standard error, so that `answer=$(everthread threads send ID TEXT --wait)` holds only the answer.
 */
import type { Side } from '../../core/author/thread-execution.ts';
import { ActivityLine } from '../output/activity-line.ts';
import { dimNote, write } from '../output/output.ts';
import { escapeControls, shorten } from '../output/terminal-text.ts';
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
