/**
 * The processes of one child: Node, and the programs of its wall above it. They are started, kept alive or not, and
 * killed as one; what was killed is reaped by the wall's own program, so that none is left to whoever is process 1.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { enclose, type Program } from './wall/enclose.ts';
import { type Enclosed, findEnclosed } from './wall/processes.ts';
import { CHANNEL_FD, FILTER_FD, type WallKind } from './wall/wall.ts';

export interface EnclosedProcess {
  /** As it was spawned; Node's own number is told by `locate`. */
  readonly pid: number;
  readonly channel: Socket;
  /** The last part of its standard error. */
  readonly stderr: string;
  /** Once it has started: finds Node behind its wall. */
  locate(): Enclosed;
  kill(): void;
  refer(referenced: boolean): void;
  /** All of it is gone, or it could not be started. */
  onEnd(ended: (code: number | null, signal: NodeJS.Signals | null, failed?: string) => void): void;
}

const STDERR_LENGTH = 8192;
const STDERR_FD = 2;
/** How long a wall's program has to reap what was killed behind it. */
const REAPED_MS = 1000;

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
    onEnd(told) {
      child.once('error', (error) => {
        if (child.pid === undefined) told(null, null, error.message);
      });
      child.once('close', (code, signal) => {
        if (child.pid !== undefined) told(code, signal);
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
  // What has started nothing yet may be about to: then all of the group goes.
  if (victim === pid || !tryKill(victim)) killAll();
  else setTimeout(killAll, REAPED_MS).unref();
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null;

function start(kind: WallKind, program: Program): ChildProcess {
  const { command, filter } = enclose(kind, program);
  const [file, ...args] = command;
  const child = spawn(file, args, {
    env: { TZ: 'UTC' },
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', ...(filter ? (['pipe'] as const) : [])],
    // A session and a group of its own: a terminal's signals are not for it, and all of it can be killed at once.
    detached: process.platform !== 'win32',
    windowsHide: true,
  });
  if (filter) send(socketOf(child, FILTER_FD), filter);
  return child;
}

/** A wall that does not come to reading it has ended, and that is told elsewhere. */
function send(socket: Socket, filter: Buffer): void {
  socket.on('error', () => undefined);
  socket.end(filter);
}

const socketOf = (child: ChildProcess, fd: number): Socket => child.stdio[fd] as Socket;

/** A group when negative. */
function tryKill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}
