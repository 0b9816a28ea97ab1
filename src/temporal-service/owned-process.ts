/**
 * A child process that never outlives this one.
 *
 * I2. However this process ends (return, Ctrl-C, SIGKILL, a debugger), the child is stopped. A guardian process
 *     holds the reading end of a pipe whose only writer is this process; the system closes the pipe when this process ends, and
 *     the guardian then stops the child. That needs no polling, no signal handlers in this process (which would change how
 *     it ends), and no system call that only Linux has (prctl's parent death signal).
 * - The child has its own process group: Ctrl-C in the terminal reaches only this process, which can finish its work
 *   against the server and then stop it.
 * - The child never keeps this process alive.
 * - Files that the child writes, its log included, are readable only by their owner.
 */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/** The time that a child has to end after SIGTERM, before SIGKILL. The Temporal dev server takes about one second. */
const GRACE_MS = 5_000;

export interface OwnedProcess {
  readonly pid: number;
  /** Set after the process has ended: its exit code or signal. */
  readonly ended: string | undefined;
  /** Ends the process (SIGTERM, SIGKILL after five seconds), and waits until it has ended. */
  stop(): Promise<void>;
  /** Ends the process at once (SIGKILL) and waits until it has ended. */
  kill(): Promise<void>;
}

/** Starts a program whose output is appended to `logFile`. Resolves when it is known whether it could be started. */
export async function spawnOwned(
  command: string,
  args: string[],
  logFile: string,
  options: Pick<SpawnOptions, 'uid' | 'gid' | 'cwd'> = {},
): Promise<OwnedProcess> {
  const log = openSync(logFile, 'a', 0o600);
  const child = withPrivateUmask(() =>
    spawn(command, args, { ...options, detached: true, windowsHide: true, stdio: ['ignore', log, log] }),
  );
  closeSync(log);
  await once(child, 'spawn');
  child.unref();
  const dismissGuardian = startGuardian(child.pid!);
  let ended: string | undefined;
  const exit = new Promise<void>((resolve) => {
    child.once('exit', (code, signal) => {
      ended = signal === null ? `exit code ${code}` : `signal ${signal}`;
      dismissGuardian();
      resolve();
    });
  });
  const end = async (signal: NodeJS.Signals) => {
    if (ended !== undefined) return;
    // The caller awaits the end, so the event loop has to stay alive for it.
    child.ref();
    child.kill(signal);
    const force = setTimeout(() => child.kill('SIGKILL'), GRACE_MS);
    await exit;
    clearTimeout(force);
  };
  return {
    pid: child.pid!,
    get ended() {
      return ended;
    },
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  };
}

/** A child inherits the umask. Worker threads cannot set it: a child that they start has the default one. */
function withPrivateUmask<T>(start: () => T): T {
  if (!isMainThread) return start();
  const before = process.umask(0o077);
  try {
    return start();
  } finally {
    process.umask(before);
  }
}

/** I2: the guardian, as text because it has to run as a separate program from `src/` and from `dist/` alike. */
const GUARDIAN = `
  const pid = Number(process.argv[1]);
  const signal = (name) => { try { process.kill(pid, name); } catch { process.exit(); } };
  process.stdin.resume().on('end', () => {
    signal('SIGTERM');
    setInterval(() => signal(0), 100);
    setTimeout(() => { signal('SIGKILL'); process.exit(); }, ${GRACE_MS});
  });
`;

/** Returns a function that ends the guardian after the child's end: the child's pid may be reused later. */
function startGuardian(pid: number): () => void {
  const guardian: ChildProcess = spawn(process.execPath, ['--disable-sigusr1', '-e', GUARDIAN, String(pid)], {
    detached: true,
    windowsHide: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: {},
  });
  guardian.unref();
  const { stdin } = guardian;
  if (stdin && 'unref' in stdin && typeof stdin.unref === 'function') stdin.unref();
  guardian.on('error', () => {});
  return () => guardian.kill('SIGKILL');
}
