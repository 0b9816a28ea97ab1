/** What a thread waits for, and how it is answered: where a command that shows its work ends. */
import type { Wait } from '../../store/port/wait.ts';
import { commandName } from '../command-name.ts';
import { note } from '../output/output.ts';
import { shorten } from '../output/terminal-text.ts';

const SUMMARY = 200;

export function tellWaits(waits: readonly Wait[]): void {
  for (const { id, kind, name, summary } of waits) {
    const how =
      kind === 'approval' || kind === 'paused' ? '--approve (or --deny)' : '--value JSON (or --deny)';
    note(`The thread waits for a person: ${kind} of ${shorten(name, 64)}: ${shorten(summary, SUMMARY)}`);
    note(`  ${commandName()} waits answer ${id} ${how}`);
  }
}
