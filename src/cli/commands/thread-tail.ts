/** `everthread threads tail`: reads the store, and needs no server. */
import { followEvents } from '../../client/follow-events.ts';
import { roleOf } from '../../core/thread/session.ts';
import { type AnswerPart, AnswerStream } from '../answer/answer-stream.ts';
import type { Reading } from '../answer/print-reading.ts';
import { idOption, negated, option, parseWhole, THREAD } from '../command.ts';
import { readThread, storeCommand } from '../connection/find-store.ts';
import { printJsonLine, printLine, timeOfDay, tone, write } from '../output/output.ts';
import { escapeControls, shorten } from '../output/terminal-text.ts';
import { roleLabel, statusTone, toolCallLine, toolResultLine } from '../output/thread-text.ts';

export const threadTail = storeCommand({
  description:
    'Shows what has happened in a thread and follows it: messages, answers token by token, tool calls and results. ' +
    'Ends when the thread is terminated, or with Ctrl-C. With --json each event is one line {seq, at, type, …}; ' +
    'the last seq is the cursor to continue from.',
  arguments: { thread: THREAD },
  options: {
    after: option('<seq>', 'only events after this one: its seq, or with --as its cursor'),
    as: option<Reading>(
      '<reading>',
      'run: as RunEvents; agenticx: as its RuntimeEvents; tangle: as events of its boxes; one line each (docs/runs.md, docs/tangle.md)',
      ['run', 'agenticx', 'tangle'],
    ),
    run: idOption('execution', 'with --as: only the events of this execution'),
    follow: negated('exit at the current end of the log'),
  },
  async read(store, { thread: threadId, ...options }) {
    const { json, follow, as } = options;
    // Refused before anything is read.
    const after = as || options.after === undefined ? 0 : parseWhole(options.after);
    await readThread(store, threadId);
    if (as) {
      const { printReading } = await import('../answer/print-reading.ts');
      await printReading(store, threadId, { ...options, as });
      return undefined;
    }
    const stream = new AnswerStream((id) => store.messages.get(threadId, id));
    const printer = new TailPrinter();
    for await (const event of followEvents(store, threadId, { after, follow })) {
      if (json) printJsonLine(event);
      else for (const part of await stream.read(event)) printer.show(part);
    }
    return undefined;
  },
});

/** Shows a thread's log: each event on a line with its time, answers token by token. */
class TailPrinter {
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
