/**
 * Reports what a part of the tests is doing while it prints nothing: which file has run for how long and, if that is
 * long, which processes exist. This distinguishes a slow machine from a hanging test, which is impossible afterwards.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { freemem, loadavg } from 'node:os';
import { relative } from 'node:path';
import { ROOT } from './set-up.mjs';

const LOOK_EVERY_MS = 10_000;
const TELL_EVERY_MS = 120_000;
/** Number of reports, two minutes apart, after which processes are listed; most files take less than a minute. */
const PROCESSES_AT = 3;

/**
 * Watches the part called `name`, whose running test file is named in the file `note`; returns a function that ends it.
 */
export function watchPart(name, note) {
  let file;
  let since = Date.now();
  let told = 0;
  const timer = setInterval(() => {
    const now = readNote(note);
    if (now !== file) [file, since, told] = [now, Date.now(), 0];
    const elapsed = Date.now() - since;
    if (elapsed < (told + 1) * TELL_EVERY_MS) return;
    told += 1;
    const where = file === undefined ? 'its set-up' : relative(ROOT, file);
    const free = `${(freemem() / 2 ** 30).toFixed(1)} GiB free`;
    console.log(
      `${name}: ${where} has run for ${Math.round(elapsed / 1000)} s (load ${loadavg()[0].toFixed(1)}, ${free})`,
    );
    if (told === PROCESSES_AT) console.log(listProcesses());
  }, LOOK_EVERY_MS);
  return () => clearInterval(timer);
}

/** Returns the path of the test file that runs, or was the last to run. */
export function readNote(note) {
  try {
    return readFileSync(note, 'utf8');
  } catch {
    return undefined;
  }
}

/** Lists processes on Linux and macOS, the busiest first; if `ps` fails, returns the reason. */
function listProcesses() {
  try {
    const table = execFileSync('ps', ['-A', '-o', 'pid,ppid,stat,etime,time,pcpu,rss,args'], {
      encoding: 'utf8',
    });
    const [head, ...rows] = table.trimEnd().split('\n');
    const busy = rows
      .map((row) => ({ row, cpu: Number(row.trim().split(/\s+/)[5]) }))
      .sort((one, other) => other.cpu - one.cpu);
    return [head, ...busy.slice(0, 40).map(({ row }) => row.slice(0, 180))].join('\n');
  } catch (error) {
    return `The processes cannot be listed: ${error.message}`;
  }
}
