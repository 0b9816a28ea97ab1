/**
 * Shows an answer while it arrives, for `--wait` and `chat`: its text on standard output, everything else (tool calls,
 * errors) as dim lines on standard error, so that `answer=$(everthread threads send ID TEXT --wait)` holds only the answer.
 */
import type { Side } from '../../core/author/thread-execution.ts';
import { ActivityLine } from '../output/activity-line.ts';
import { dimNote, write } from '../output/output.ts';
import { shorten, visible } from '../output/terminal-text.ts';
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

const LINE = 100;
const NAME = 40;
const THINKING = 'thinking';

export class AnswerPrinter implements AnswerSink {
  readonly #quiet: boolean;
  readonly #activity: ActivityLine;
  #text = '';
  /** True if the current line has text and no line break yet. */
  #open = false;
  #doing = THINKING;
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
    this.#work();
  }

  end(): void {
    this.#activity.hide();
  }

  tell(text: string): void {
    this.#interrupt(text);
    this.#work();
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
  #work(): void {
    if (!this.#quiet && !this.#open) this.#activity.show(this.#doing);
  }

  show(part: AnswerPart): void {
    if (part.kind === 'tool_call') this.#doing = shorten(part.name, NAME);
    if (part.kind === 'tool_result') this.#doing = THINKING;
    this.#print(part);
    this.#work();
  }

  #print(part: AnswerPart): void {
    switch (part.kind) {
      case 'text':
        this.#tellSide(part.side);
        this.#text += part.delta;
        this.#write(visible(part.delta));
        break;
      case 'restart':
        this.#text = '';
        this.#write(`${this.#open ? '\n' : ''}(taken back)\n`);
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
        this.#note(`· ${shorten(`${part.name} ${part.arguments === '{}' ? '' : part.arguments}`, LINE)}`);
        break;
      case 'tool_result':
        if (part.status === 'error') this.#note(`  ${shorten(part.content, LINE)}`);
        break;
      case 'trouble':
        if (!this.#quiet) this.#interrupt(`  (${shorten(part.text, 3 * LINE)})`);
        break;
      case 'status':
        break;
    }
  }

  /** Names the side whose text follows, if a thread has two AI sides. */
  #tellSide(side: Side): void {
    if (side !== this.#side) this.#note(`· side ${side}`);
    this.#side = side;
  }

  /** An assistant message that no step made. */
  #addMessage(content: string): void {
    this.#answer = content;
    this.#write(`${visible(content)}\n`);
  }

  #write(text: string): void {
    if (this.#quiet || text === '') return;
    this.#activity.hide();
    write(text);
    this.#open = !text.endsWith('\n');
  }

  #note(text: string): void {
    if (this.#open) this.#write('\n');
    if (this.#quiet) return;
    this.#activity.hide();
    dimNote(text);
  }
}
