/** Prints a thread's story: each sentence on a line with its time, and answers while they stream. */
import { shorten } from '../../core/value/shown-text.ts';
import type { Projected } from '../../projections/projection.ts';
import { MESSAGE_LENGTH, type StoryKind, type StoryRow } from '../../projections/story/story-row.ts';
import { printDataLine, printLine, type Tone, timeOfDay, tone, write } from '../output/output.ts';

const TONES: Readonly<Partial<Record<StoryKind, Tone>>> = {
  step: 'dim',
  status: 'dim',
  tool: 'cyan',
  subagent: 'cyan',
  error: 'red',
  wait: 'yellow',
  retry: 'yellow',
  lost: 'yellow',
  compaction: 'yellow',
  trim: 'yellow',
  limit: 'yellow',
  fallback: 'yellow',
  repair: 'yellow',
  loop: 'yellow',
  budget: 'yellow',
};

export async function printStory(
  rows: AsyncIterable<Projected<StoryRow>>,
  json: boolean | undefined,
): Promise<void> {
  const printer = new StoryPrinter();
  for await (const row of rows) {
    if (json) printDataLine(row);
    else printer.show(row.event);
  }
}

class StoryPrinter {
  /** The text of the answer that is being shown. */
  #streamed: { readonly step: number | undefined; readonly text: string } | undefined;
  /** True if the cursor is within a line. */
  #open = false;

  show(row: StoryRow): void {
    if (row.kind === 'text') this.#addText(row);
    else this.#addSentence(row);
  }

  #addSentence(row: StoryRow): void {
    if (this.#open) printLine();
    this.#open = false;
    if (!this.#hasShown(row)) printLine(`${stamp(row.at)}${coloured(row)}`);
  }

  #addText({ step, at, line, data }: StoryRow): void {
    const shown = this.#streamed?.step === step ? (this.#streamed?.text ?? '') : '';
    this.#streamed = { step, text: `${shown}${line}` };
    if (!this.#open) write(`${stamp(at)}${tone('bold', data.side === 'b' ? 'side B:' : 'assistant:')} `);
    this.#open = true;
    write(line);
  }

  /** True for an answer that has been shown while it streamed, and was not changed since. */
  #hasShown({ type, step, line }: StoryRow): boolean {
    const shown = this.#streamed;
    if (type === 'attempt.discarded') this.#streamed = undefined;
    if (type !== 'message.created' || !shown || shown.step !== step) return false;
    this.#streamed = undefined;
    return line.endsWith(shorten(shown.text, MESSAGE_LENGTH));
  }
}

function stamp(at: number): string {
  return `${tone('dim', timeOfDay(at))}  `;
}

function coloured({ kind, line }: StoryRow): string {
  const style = TONES[kind];
  if (style) return tone(style, line);
  const end = line.indexOf(': ') + 1;
  return `${tone('bold', line.slice(0, end))}${line.slice(end)}`;
}
