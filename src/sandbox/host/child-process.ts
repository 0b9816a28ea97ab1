/**
 * One sandbox child as its parent sees it: how it is started, spoken to and killed, and how its end is read.
 * C1. It stands behind the best wall that there is, which is known before it starts (`wall/`).
 * C2. Nothing it writes is believed: frames are bounded, messages are read by hand, and one that speaks out of turn is
 *     killed. Whoever holds its run is told of its end like of any other.
 * C3. On Linux its memory is watched from outside, whatever the host is busy with.
 * C4. It ends when the channel closes, and with its parent.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { constants } from 'node:os';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { errorMessage } from '../../core/error.ts';
import { type Channel, openChannel } from '../channel.ts';
import { FRAME_OF_CHILD, type Frame } from '../frame.ts';
import { partToChild } from '../message-frame.ts';
import { type FromChild, MEMORY_MARK, type ToChild } from '../protocol.ts';
import { createConduct } from './conduct.ts';
import { readFromChild } from './from-child.ts';
import { chooseWall } from './wall/choose.ts';
import { enclose, type Program } from './wall/enclose.ts';
import { type MemoryWatch, watchMemory } from './wall/memory-watch.ts';
import { findEnclosed } from './wall/processes.ts';
import { CHANNEL_FD, FILTER_FD, type WallKind, type WallSetting } from './wall/wall.ts';

export const CHILD_MAIN = fileURLToPath(new URL(`../child/main${extname(import.meta.url)}`, import.meta.url));

/** How a child ended. */
export type ChildEnd = { readonly kind: 'memory' } | { readonly kind: 'crashed'; readonly how: string };

export interface SandboxChild {
  readonly pid: number;
  send(message: ToChild): void;
  kill(): void;
  /** While referenced, the child keeps this process alive. */
  ref(): void;
  unref(): void;
  onMessage: (message: FromChild) => void;
  onEnd: (end: ChildEnd) => void;
}

export interface SpawnOptions {
  readonly wall?: WallSetting;
  /** The program; the sandbox's own when absent. */
  readonly main?: string;
  /** Where its memory is watched: inside by a thread of its own, where the host cannot look into processes. */
  readonly watch?: Watch;
  /** Without Node's permission model: what holds then is held by the wall. */
  readonly bare?: boolean;
}

type Watch = 'inside' | 'outside';

/** How long the program of a wall has to reap what was killed behind it. */
const REAPED_MS = 1000;
const WATCH = process.platform === 'linux' ? 'outside' : 'inside';

/** The process itself starts once the wall is known: at once, but for the first child of a host. */
export function spawnChild(options: SpawnOptions = {}): SandboxChild {
  const { wall = 'auto', main = CHILD_MAIN, watch = WATCH, bare = false } = options;
  let started: Started | undefined;
  let referenced = true;
  let killed = false;
  const child: SandboxChild = {
    get pid() {
      return started?.pid ?? -1;
    },
    send: (message) => started?.send(message),
    kill() {
      killed = true;
      started?.kill();
    },
    ref() {
      referenced = true;
      started?.refer(true);
    },
    unref() {
      referenced = false;
      started?.refer(false);
    },
    onMessage: () => undefined,
    onEnd: () => undefined,
  };
  const fail = (how: string) => child.onEnd({ kind: 'crashed', how });
  const start = (kind: WallKind) => {
    if (killed) return fail('it was ended before it started');
    try {
      started = supervise(
        startProcess(kind, { main, args: [watch], threads: watch === 'inside', bare }),
        watch,
        child,
      );
      started.refer(referenced);
    } catch (error) {
      fail(errorMessage(error));
    }
  };
  chooseWall(wall).then(
    ({ kind }) => start(kind),
    (error) => fail(errorMessage(error)),
  );
  return child;
}

function startProcess(kind: WallKind, inhabitant: Program): ChildProcess {
  const { command, filter } = enclose(kind, inhabitant);
  const [program, ...args] = command;
  const stdio = ['ignore', 'ignore', 'pipe', 'pipe', ...(filter ? ['pipe' as const] : [])] as const;
  // A session and a group of its own: a terminal's signals are not for it, and all of it can be killed at once.
  const detached = process.platform !== 'win32';
  const child = spawn(program, args, { env: { TZ: 'UTC' }, stdio: [...stdio], detached, windowsHide: true });
  if (filter)
    socketOf(child, FILTER_FD)
      .on('error', () => undefined)
      .end(filter);
  return child;
}

const socketOf = (child: ChildProcess, fd: number): Socket => child.stdio[fd] as Socket;

interface Started {
  readonly pid: number;
  send(message: ToChild): void;
  kill(): void;
  refer(referenced: boolean): void;
}

function supervise(child: ChildProcess, watch: Watch, events: SandboxChild): Started {
  const conduct = createConduct();
  const { pid = -1 } = child;
  let victim: number | undefined;
  let memory: MemoryWatch | undefined;
  let stderr = '';
  let failed: string | undefined;
  let ended = false;

  const kill = () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    channel.close();
    // The wall's program stays to reap what it started. While it has started nothing it may be about to: then all go.
    const target = victim ?? findEnclosed(pid).victim;
    if (target === pid || !tryKill(target)) killAll();
    else setTimeout(killAll, REAPED_MS).unref();
  };
  const killAll = () => {
    if (!ended && !tryKill(-pid)) child.kill('SIGKILL');
  };
  const fault = (why: string) => {
    failed = `it said ${why}`;
    kill();
  };
  const onReady = () => {
    if (watch === 'inside') return void (victim = pid);
    const enclosed = findEnclosed(pid);
    ({ victim } = enclosed);
    memory = watchMemory(enclosed.pid, victim);
    if (!memory) throw new Error('that it was ready, and no more children can be watched');
  };
  const onFrame = (frame: Frame) => {
    const message = readFromChild(frame);
    if (conduct.heard(message) === 'drop') return;
    if (message.kind === 'ready') onReady();
    if (message.kind !== 'idle' || !memory) return events.onMessage(message);
    memory.end();
    events.onMessage({ ...message, rssBytes: memory.residentBytes() });
  };
  const channel: Channel = openChannel(
    socketOf(child, CHANNEL_FD),
    { onFrame, onFault: fault },
    FRAME_OF_CHILD,
  );
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-8192);
  });
  child.on('error', (error) => {
    failed = error.message;
    if (child.pid === undefined) events.onEnd({ kind: 'crashed', how: error.message });
  });
  child.on('close', (code, signal) => {
    ended = true;
    channel.close();
    memory?.close();
    const how = signal ?? showExit(code);
    events.onEnd(memory?.tripped ? { kind: 'memory' } : readEnd(stderr, how, failed));
  });
  return {
    pid,
    send(message) {
      conduct.told(message);
      if (message.kind === 'run') memory?.begin(message.job.memoryBytes);
      const { head, wire } = partToChild(message);
      if (message.kind === 'crossing') channel.post(head, wire);
      else channel.send(head, wire);
    },
    kill,
    refer(referenced) {
      for (const one of [child, socketOf(child, 2), socketOf(child, CHANNEL_FD)]) {
        if (referenced) one.ref();
        else one.unref();
      }
    },
  };
}

function tryKill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}

/** A shell's or a wall's program tells the signal that ended what it ran in its own code. */
function showExit(code: number | null): string {
  const number = (code ?? 0) - 128;
  const [signal] = Object.entries(constants.signals).find(([, each]) => each === number) ?? [];
  return signal ?? `exit code ${code}`;
}

/** The engine's own last words, and those of an allocator that was refused. */
const OUT_OF_MEMORY =
  /(?:FATAL ERROR|# Fatal).*out of memory|Allocation failed - JavaScript heap|std::bad_alloc|Cannot allocate memory/i;
const SAID_LENGTH = 500;

function readEnd(stderr: string, how: string, failed: string | undefined): ChildEnd {
  if (failed === undefined && (stderr.includes(MEMORY_MARK) || OUT_OF_MEMORY.test(stderr)))
    return { kind: 'memory' };
  const said = stderr
    .trim()
    .split('\n')
    .find((line) => /error|denied/i.test(line));
  return {
    kind: 'crashed',
    how: [how, failed, said?.slice(0, SAID_LENGTH)].filter(Boolean).join(': '),
  };
}
