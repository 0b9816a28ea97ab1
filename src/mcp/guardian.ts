/**
 * Ends process groups that this process has started, however it ends itself, SIGKILL included. One more process, started with the first group,
 * reads their numbers from a pipe that this process alone holds; the system closes it with this process.
 */
import { type ChildProcess, spawn } from 'node:child_process';

/** As text: it is a program of its own from `src/` and from `dist/` alike. */
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

/** Until the function that it returns is called: the number may be given to another group then. */
export function guardGroup(group: number): () => void {
  if (process.platform === 'win32') return () => {};
  tell(`+${group}`);
  return () => tell(`-${group}`);
}

function tell(line: string): void {
  guardian ??= start();
  guardian.stdin?.write(`${line}\n`);
}

function start(): ChildProcess {
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
