/** Prints what a thread waits for and the commands that answer it, when a command that shows a thread's work ends. */
import type { Wait } from '../../store/wait/wait-record.ts';
import { commandName } from '../command-name.ts';
import { note } from '../output/output.ts';
import { shorten } from '../output/terminal-text.ts';

const SUMMARY = 200;

export function printWaits(waits: readonly Wait[]): void {
  for (const { id, kind, name, summary } of waits) {
    const how =
      kind === 'approval' || kind === 'paused' ? '--approve (or --deny)' : '--value JSON (or --deny)';
    note(`The thread waits for input: ${kind} of ${shorten(name, 64)}: ${shorten(summary, SUMMARY)}`);
    note(`  ${commandName()} waits answer ${id} ${how}`);
  }
}
