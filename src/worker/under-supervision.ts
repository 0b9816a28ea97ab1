/** Starts what a supervised process runs from its start: the journal of author code and the watchdog. */
import type { Configuration } from '../configuration.ts';
import { JOURNAL_FD } from '../supervisor/index.ts';
import { keepAuthorJournal } from './author-journal.ts';
import { startWatchdog } from './watchdog.ts';

export function workUnderSupervision({ watchdogMs }: Pick<Configuration, 'watchdogMs'>): void {
  keepAuthorJournal(JOURNAL_FD);
  startWatchdog({ limitMs: watchdogMs, journalFd: JOURNAL_FD, parentPid: process.ppid });
}
