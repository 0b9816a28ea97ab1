/** Starts what a supervised process runs from its start: the journal of author code and the watchdog. */
import { writeSync } from 'node:fs';
import { type AuthorRun, currentAuthorRun, listenToAuthorRuns } from '../author/guard/author-run.ts';
import type { Configuration } from '../configuration.ts';
import { JOURNAL_FD, type JournalLine, toLine, type Unit } from '../supervisor/index.ts';
import { startWatchdog } from './watchdog.ts';

export function workUnderSupervision({ watchdogMs }: Pick<Configuration, 'watchdogMs'>): void {
  keepAuthorJournal(JOURNAL_FD);
  startWatchdog({ limitMs: watchdogMs, journalFd: JOURNAL_FD, parentPid: process.ppid });
}

/**
 * Reports to the supervisor which units of author code this process is running, each before it begins
 * (supervisor/journal.ts).
 * - Only the outermost run is reported, because a unit is retried or given up as a whole. A hook within a tool call
 *   belongs to that call.
 * - A missing supervisor is not an error: this process is about to end.
 */

/** The global symbol under which the watchdog finds the running unit, after it has paused the main thread. */
const CULPRIT = Symbol.for('everthread.culprit');

const NAME_CHARS = 200;

function keepAuthorJournal(fd: number): void {
  const ids = new Map<AuthorRun, number>();
  const units = new WeakMap<AuthorRun, AuthorRun>();
  const unitOf = (run: AuthorRun) => units.get(run) ?? run;
  let last = 0;
  listenToAuthorRuns({
    begin(run) {
      // The current run is still the outer one, if any; `run` becomes current only after `begin`.
      const outer = currentAuthorRun();
      if (outer) {
        units.set(run, unitOf(outer));
        return;
      }
      last += 1;
      ids.set(run, last);
      writeLine(fd, { kind: 'begin', id: last, unit: toUnit(run, run) });
    },
    end(run) {
      const id = ids.get(run);
      if (id === undefined) return;
      ids.delete(run);
      writeLine(fd, { kind: 'end', id });
    },
  });
  const tellCulprit = (): Unit | undefined => {
    const run = currentAuthorRun();
    return run && toUnit(run, unitOf(run));
  };
  Object.defineProperty(globalThis, CULPRIT, { value: tellCulprit });
}

function toUnit({ code, name, threadId }: AuthorRun, { work }: AuthorRun): Unit {
  return { code, name: name.slice(0, NAME_CHARS), threadId, work };
}

/** Write errors are ignored. */
function writeLine(fd: number, line: JournalLine): void {
  try {
    writeSync(fd, toLine(line));
  } catch {
    return;
  }
}
