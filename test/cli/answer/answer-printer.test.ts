/** If standard output is no terminal, `--wait` and `chat` write only the answer to it. */
import { describe, expect, it } from '@jest/globals';
import { AnswerPrinter } from '../../../src/cli/answer/answer-printer.ts';
import type { AnswerPart } from '../../../src/cli/answer/answer-stream.ts';

const text = (delta: string): AnswerPart => ({ kind: 'text', delta, side: 'a' }) as AnswerPart;

/** Returns what `work` writes to standard output. */
function written(isTerminal: boolean, work: (printer: AnswerPrinter) => void): string {
  const { stdout, stderr } = process;
  const [isTTY, out, err] = [stdout.isTTY, stdout.write, stderr.write];
  let all = '';
  stdout.isTTY = isTerminal;
  stdout.write = ((chunk: string) => {
    all += chunk;
    return true;
  }) as typeof stdout.write;
  stderr.write = (() => true) as typeof stderr.write;
  try {
    work(new AnswerPrinter({ quiet: false }));
  } finally {
    Object.assign(stdout, { isTTY, write: out });
    stderr.write = err;
  }
  return all;
}

function interrupted(printer: AnswerPrinter): void {
  printer.show(text('You said: he'));
  printer.tell('No worker answers.');
  printer.show({ kind: 'trouble', text: 'it is asked again' } as AnswerPart);
  printer.show(text('llo'));
  printer.show({ kind: 'end', stopped: false } as AnswerPart);
}

describe('an answer interrupted by other output', () => {
  it('is complete on a pipe', () => {
    expect(written(false, interrupted)).toBe('You said: hello\n');
  });

  it('continues on a line of its own in a terminal', () => {
    expect(written(true, interrupted)).toContain('You said: he\n');
  });
});
