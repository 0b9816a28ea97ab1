/**
 * The processes of one child: Node, and the programs of its wall above it. They are started, referenced and killed as
 * one. Killed processes are reaped by the wall's own program, so that none is left to process 1.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { errorMessage } from '../../core/value/thrown.ts';
import { enclose, type Program } from './wall/enclose.ts';
import { CHANNEL_FD, FILTER_FD, type WallKind } from './wall/wall.ts';

export interface EnclosedProcess {
  /** Id of the spawned process; `locate` returns that of Node. */
  readonly pid: number;
  readonly channel: Socket;
  /** The last part of its standard error. */
  readonly stderr: string;
  /** Finds Node behind its wall, once it has started. */
  locate(): Enclosed;
  kill(): void;
  refer(referenced: boolean): void;
  /** Called when all of them have ended, or if they could not be started. */
  onEnd(ended: (code: number | null, signal: NodeJS.Signals | null, failed?: string) => void): void;
}

const STDERR_LENGTH = 8192;
const STDERR_FD = 2;
/** Milliseconds that a wall's program has to reap what was killed behind it. */
const REAP_TIMEOUT_MS = 1000;

export function startEnclosed(kind: WallKind, program: Program): EnclosedProcess {
  const child = start(kind, program);
  const { pid = -1 } = child;
  let located: Enclosed | undefined;
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-STDERR_LENGTH);
  });
  return {
    pid,
    channel: socketOf(child, CHANNEL_FD),
    get stderr() {
      return stderr;
    },
    locate() {
      located = findEnclosed(pid);
      return located;
    },
    kill: () => killEnclosed(child, located),
    refer(referenced) {
      for (const one of [child, socketOf(child, STDERR_FD), socketOf(child, CHANNEL_FD)]) {
        if (referenced) one.ref();
        else one.unref();
      }
    },
    onEnd(listener) {
      child.once('error', (error) => {
        if (child.pid === undefined) listener(null, null, errorMessage(error));
      });
      child.once('close', (code, signal) => {
        if (child.pid !== undefined) listener(code, signal);
      });
    },
  };
}

function killEnclosed(child: ChildProcess, located: Enclosed | undefined): void {
  const { pid } = child;
  if (pid === undefined || hasEnded(child)) return;
  const killAll = () => {
    if (!hasEnded(child) && !tryKill(-pid)) child.kill('SIGKILL');
  };
  const { victim } = located ?? findEnclosed(pid);
  // A program that has started nothing yet may be about to: then the whole group is killed.
  if (victim === pid || !tryKill(victim)) killAll();
  else setTimeout(killAll, REAP_TIMEOUT_MS).unref();
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null;

function start(kind: WallKind, program: Program): ChildProcess {
  const { command, filter } = enclose(kind, program);
  const [file, ...args] = command;
  const child = spawn(file, args, {
    env: { TZ: 'UTC' },
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', ...(filter ? (['pipe'] as const) : [])],
    // A separate session and process group: no signals from a terminal, and all of it can be killed at once.
    detached: process.platform !== 'win32',
    windowsHide: true,
  });
  if (filter) send(socketOf(child, FILTER_FD), filter);
  return child;
}

/** Errors are ignored: a wall that does not read the filter has ended, which is reported elsewhere. */
function send(socket: Socket, filter: Buffer): void {
  socket.on('error', () => undefined);
  socket.end(filter);
}

const socketOf = (child: ChildProcess, fd: number): Socket => child.stdio[fd] as Socket;

/** Kills a process, or a process group if `pid` is negative. False if that fails. */
function tryKill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}

/** Finds the processes behind a wall, by their ids on the host: the wall's program has descendants, and one is Node. */
interface Enclosed {
  /** Id of Node's process. */
  readonly pid: number;
  /** Id of the process whose death ends all that the wall's program started, and which that program reaps. */
  readonly victim: number;
}

/** `started` is the id of the spawned process: Node itself, or the wall's program above it. */
function findEnclosed(started: number): Enclosed {
  if (process.platform !== 'linux') return { pid: started, victim: started };
  const line = [started];
  for (let next = childOf(started); next !== undefined; next = childOf(next)) line.push(next);
  return { pid: line.at(-1) as number, victim: line[1] ?? started };
}

function childOf(pid: number): number | undefined {
  try {
    const [first] = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1').split(' ').filter(Boolean),
    );
    if (first !== undefined) return Number(first);
    return undefined;
  } catch {
    return childByStatus(pid);
  }
}

/** Fallback if the kernel does not list children. */
function childByStatus(parent: number): number | undefined {
  const entries = existsSync('/proc/self') ? readdirSync('/proc') : [];
  return entries
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)
    .find((pid) => {
      try {
        return new RegExp(`^PPid:\\s+${parent}$`, 'm').test(readFileSync(`/proc/${pid}/status`, 'latin1'));
      } catch {
        return false;
      }
    });
}
