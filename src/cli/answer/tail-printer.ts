/** A thread's log for people: each event on a line with its time, answers token by token. */
import { roleOf } from '../../core/thread/session.ts';
import { printLine, timeOfDay, tone, write } from '../output/output.ts';
import { escapeControls, shorten } from '../output/terminal-text.ts';
import { roleLabel, statusTone, toolCallLine, toolResultLine } from '../output/thread-text.ts';
import type { AnswerPart } from './answer-stream.ts';

export class TailPrinter {
  #inText = false;

  show(part: AnswerPart): void {
    switch (part.kind) {
      case 'text':
        this.#addText(part);
        break;
      case 'restart':
        this.#endText(' (restarting)');
        break;
      case 'end':
        this.#endText(part.stopped ? ' (stopped)' : '');
        break;
      default:
        this.#endText();
        printLine(`${stamp(part.at)}${lineOf(part)}`);
    }
  }

  #addText({ at, delta, side }: Extract<AnswerPart, { kind: 'text' }>): void {
    if (!this.#inText) write(`${stamp(at)}${roleLabel(roleOf(side))} `);
    this.#inText = true;
    write(escapeControls(delta));
  }

  #endText(remark = ''): void {
    if (this.#inText) printLine(remark);
    this.#inText = false;
  }
}

function stamp(at: number): string {
  return `${tone('dim', timeOfDay(at))}  `;
}

function lineOf(part: Exclude<AnswerPart, { kind: 'text' | 'end' | 'restart' }>): string {
  switch (part.kind) {
    case 'message':
      return `${roleLabel(part.role)} ${part.silent ? '(silent) ' : ''}${escapeControls(part.content)}`;
    case 'tool_call':
      return toolCallLine(part.name, part.arguments);
    case 'tool_result':
      return toolResultLine(part.name, part.status, part.content);
    case 'trouble':
      return tone('yellow', `! ${shorten(part.text, 500)}`);
    case 'status': {
      const why = part.error ? `${part.error.code}: ${part.error.message}` : part.reason;
      return tone(statusTone(part.status), `● ${part.status}${why ? ` (${escapeControls(why)})` : ''}`);
    }
  }
}
