/**
 * Kills the process groups that this process has started when this process ends, even by SIGKILL. A guardian process,
 * started with the first group, reads their ids from a pipe that only this process writes to; the operating system
 * closes the pipe when this process ends.
 */
import { type ChildProcess, spawn } from 'node:child_process';

/** The guardian's program, as text so that it is the same when run from `src/` and from `dist/`. */
const GUARDIAN = `
  const groups = new Set();
  let rest = '';
  process.stdin.setEncoding('utf8').on('data', (text) => {
    const lines = (rest + text).split('\\n');
    rest = lines.pop();
    for (const line of lines) groups[line[0] === '+' ? 'add' : 'delete'](Number(line.slice(1)));
  }).on('end', () => {
    for (const group of groups) try { process.kill(-group, 'SIGKILL'); } catch {}
    process.exit();
  });
`;

let guardian: ChildProcess | undefined;

/** Guards a process group until the returned function is called: after the group has ended, its id may be reused. */
export function guardGroup(group: number): () => void {
  if (process.platform === 'win32') return () => {};
  sendLine(`+${group}`);
  return () => sendLine(`-${group}`);
}

function sendLine(line: string): void {
  guardian ??= startGuardian();
  guardian.stdin?.write(`${line}\n`);
}

function startGuardian(): ChildProcess {
  const started = spawn(process.execPath, ['--disable-sigusr1', '-e', GUARDIAN], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: {},
  });
  started.unref();
  if (started.stdin && 'unref' in started.stdin && typeof started.stdin.unref === 'function')
    started.stdin.unref();
  started.stdin?.on('error', () => {});
  started.on('error', () => {});
  return started;
}
