/**
 * The server that `.everthread/dev.json` names, started by another command of this project.
 * - While its process lives, it holds the project's database file: a missing response does not justify a second server. It may be
 *   busy, suspended, or about to end with the command that started it; so it is asked again, and then reported as an error.
 * - A process id that was reused by another program is not waited for.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { RuntimeError } from '../core/value/error.ts';
import { ANSWER_WITHIN_MS } from './connect.ts';
import { type DevFile, isAlive, readDevFile } from './dev-file.ts';
import { askService, type UnusableService } from './prepare-service.ts';
import { runCommand } from './run-command.ts';

/** The time that a server may take to start. */
const START_TIMEOUT_MS = 60_000;
/** Milliseconds without a response until the user is informed; a healthy server needs a twentieth of that. */
const NOTICE_AFTER_MS = 1_000;
const CHECK_INTERVAL_MS = 100;

export interface ProjectServerOptions {
  readonly projectDir: string;
  readonly progress: (line: string) => void;
  /** Milliseconds that the server may take to respond; for tests. */
  readonly answerWithinMs?: number;
}

/**
 * Resolves to undefined if the server is gone.
 * @throws RuntimeError `TemporalUnavailable` if its process runs but cannot be used.
 */
export async function useProjectServer(options: ProjectServerOptions): Promise<DevFile | undefined> {
  const { projectDir, progress, answerWithinMs: patienceMs = START_TIMEOUT_MS } = options;
  const file = readDevFile(projectDir);
  if (!file) return undefined;
  const deadline = performance.now() + patienceMs;
  const timer = setTimeout(async () => {
    if (await holdsDatabase(file)) progress(`${describe(file)} does not answer yet: trying again`);
  }, NOTICE_AFTER_MS);
  try {
    for (;;) {
      const connectTimeout = Math.max(1_000, Math.min(ANSWER_WITHIN_MS, deadline - performance.now()));
      // Without warnings about what it lacks: the command that started it has shown them.
      const asked = askService({ address: file.address, connectTimeout }, file.namespace, () => {});
      const refusal = await Promise.race([asked, awaitProcessEnd(file.pid, asked)]);
      if (refusal === undefined) return file;
      if (refusal === 'gone' || !(await holdsDatabase(file))) return undefined;
      if (refusal.final || performance.now() > deadline) throw unusable(file, refusal, projectDir);
      await sleep(CHECK_INTERVAL_MS);
    }
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves when the process has ended, which a client does not notice at once; never resolves after `asked` has. */
async function awaitProcessEnd(pid: number, asked: Promise<unknown>): Promise<'gone'> {
  let answered = false;
  void asked.then(() => {
    answered = true;
  });
  while (!answered) {
    if (!isAlive(pid)) return 'gone';
    await sleep(CHECK_INTERVAL_MS);
  }
  return new Promise(() => {});
}

/** If the command line cannot be read, any process with this id counts as the server. */
async function holdsDatabase({ pid, address }: DevFile): Promise<boolean> {
  if (!isAlive(pid)) return false;
  const command = await readProcessCommand(pid);
  if (command === undefined) return true;
  const port = address.slice(address.lastIndexOf(':') + 1);
  return command.includes(' start-dev ') && command.includes(` --port ${port} `);
}

function describe({ pid, address }: DevFile): string {
  return `The Temporal server of this project (process ${pid} at ${address})`;
}

function unusable(file: DevFile, { reason }: UnusableService, projectDir: string): RuntimeError {
  return new RuntimeError(
    'TemporalUnavailable',
    `${describe(file)} runs but cannot be used: ${reason}. No other server was started, because two on one database file would damage ` +
      `it. Try again when it is less busy, or end process ${file.pid} first. If that is not a Temporal server, remove ` +
      `${projectDir}/.everthread/dev.json.`,
  );
}

/**
 * The command line of a process: shows whether a process id was reused by another program. The arguments joined with
 * spaces; empty if no such process runs; undefined if the system cannot report them.
 */
async function readProcessCommand(pid: number): Promise<string | undefined> {
  if (process.platform === 'win32') return undefined;
  if (process.platform !== 'linux') {
    const { code, output } = await runCommand('ps', ['-ww', '-o', 'command=', '-p', String(pid)]);
    return code === null ? undefined : output.trim();
  }
  try {
    // Empty for a process that has ended and that its parent has not reaped.
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ESRCH' ? '' : undefined;
  }
}
