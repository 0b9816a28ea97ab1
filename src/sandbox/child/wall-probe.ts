/**
 * The program that `host/wall/choose.ts` runs behind a wall: it tries what an attacker would with all that Node offers,
 * and reports what it reached. It also checks that the engine loads: a wall that hides its libraries is useless.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync, unlinkSync, writeSync } from 'node:fs';
import { connect } from 'node:net';
import ivm from 'isolated-vm';

interface Targets {
  readonly pid: number;
  readonly port: number;
  readonly files: readonly string[];
  readonly folders: readonly string[];
}

const CHANNEL_FD = 3;
const targets = JSON.parse(process.argv[2] as string) as Targets;

/** Returns the first target that was reached, as a text. */
function findReachable<Target>(
  all: readonly Target[],
  reach: (target: Target) => unknown,
): string | undefined {
  for (const target of all) {
    try {
      reach(target);
      return String(target);
    } catch {
      // Held.
    }
  }
  return undefined;
}

function connected(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(`127.0.0.1:${port}`));
    socket.once('error', () => resolve(undefined));
  });
}

new ivm.Isolate({ memoryLimit: 8 }).dispose();
const answer = {
  environment: findReachable([targets.pid, process.ppid, 1], (pid) => readFileSync(`/proc/${pid}/environ`)),
  files: findReachable(targets.files, (path) => readFileSync(path)),
  writing: findReachable(targets.folders, write),
  network: await connected(targets.port),
  processes:
    findReachable([targets.pid], (pid) => readdirSync(`/proc/${pid}`)) ?? findReachable(['/bin/sh'], start),
};
writeSync(CHANNEL_FD, JSON.stringify(answer));

function write(folder: string): void {
  const path = `${folder}/.everthread-probe-${targets.pid}-${process.pid}`;
  closeSync(openSync(path, 'wx'));
  unlinkSync(path);
}

function start(program: string): void {
  const { error } = spawnSync(program, ['-c', 'exit 0']);
  if (error) throw error;
}
