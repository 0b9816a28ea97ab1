#!/usr/bin/env node
/**
 * The `everthread` command. Plain JavaScript that any Node from 18 on can read: with Node 24 it runs the real command,
 * `start(argv)`; an older Node starts it once more, with a Node 24 that EVERTHREAD_NODE names or that the project has
 * as a package of npm. Nothing is downloaded.
 */
import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { isatty } from 'node:tty';
import { fileURLToPath } from 'node:url';

const NEEDED_MAJOR = 24;
/** Set by this file for its second run, which has an IPC channel to the first. */
const LAUNCHED = 'EVERTHREAD_LAUNCHED';
const named = process.env.EVERTHREAD_NODE;

if (isNewEnough(process.versions.node)) await runMain();
else if (process.env[LAUNCHED]) refuse(`EVERTHREAD_NODE names ${process.version}: name a newer one.`);
else runWithOtherNode(named || findPackagedNode());

function isNewEnough(version) {
  return Number(version.split('.')[0]) >= NEEDED_MAJOR;
}

function refuse(why) {
  console.error(`everthread needs Node ${NEEDED_MAJOR} or newer, and ${why}`);
  process.exitCode = 1;
}

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

function runWithOtherNode(node) {
  if (node === undefined) {
    const toProject = `npm install ${packageNames()[0]}@${NEEDED_MAJOR}`;
    refuse(
      `this is ${process.version}: install it, or add it to the project (${toProject}), or name one by EVERTHREAD_NODE.`,
    );
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
    const origin = named ? ', which EVERTHREAD_NODE names' : '';
    console.error(`everthread could not start ${node}${origin}: ${error.message}`);
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

/** Looks upwards from the current folder, then from this package; a clone has its Node in scripts/toolchain. */
function findPackagedNode() {
  const from = [process.cwd() + sep, new URL('../scripts/toolchain/', import.meta.url)];
  return from.flatMap((folder) => packageNames().map((name) => findNodeOf(folder, name))).find(Boolean);
}

/** The names of npm's packages of Node for this machine. The last one holds the program of any, if its script has run. */
function packageNames() {
  const { platform, arch } = process;
  const system =
    platform === 'win32' ? 'win' : platform === 'darwin' && arch === 'arm64' ? 'bin-darwin' : platform;
  return [`node-${system}-${arch}`, 'node'];
}

function findNodeOf(folder, name) {
  try {
    const manifest = createRequire(folder).resolve(`${name}/package.json`);
    const { version, bin } = JSON.parse(readFileSync(manifest, 'utf8'));
    const program = join(dirname(manifest), bin.node);
    return isNewEnough(version) && existsSync(program) ? program : undefined;
  } catch {
    return undefined;
  }
}
