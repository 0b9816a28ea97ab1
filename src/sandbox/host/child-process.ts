/**
 * One sandbox child as its parent sees it: how it is started, spoken to and killed, and how its end is read.
 * C1. It stands behind the best wall that there is, which is known before it starts (`wall/`).
 * C2. Nothing it writes is believed: frames are bounded, messages are read by hand, and one that speaks out of turn is
 *     killed. Whoever holds its run is told of its end like of any other.
 * C3. On Linux its memory is watched from outside, whatever the host is busy with.
 * C4. It ends when the channel closes, and with its parent.
 */
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { errorMessage } from '../../core/error.ts';
import { openChannel } from '../channel.ts';
import { FRAME_OF_CHILD, type Frame } from '../frame.ts';
import { partToChild } from '../message-frame.ts';
import type { FromChild, ToChild } from '../protocol.ts';
import { type ChildEnd, readEnd } from './child-end.ts';
import { createConduct } from './conduct.ts';
import { type EnclosedProcess, startEnclosed } from './enclosed-process.ts';
import { readFromChild } from './from-child.ts';
import { chooseWall } from './wall/choose.ts';
import { type MemoryWatch, watchMemory } from './wall/memory-watch.ts';
import type { WallKind, WallSetting } from './wall/wall.ts';

export type { ChildEnd } from './child-end.ts';

export const CHILD_MAIN = fileURLToPath(new URL(`../child/main${extname(import.meta.url)}`, import.meta.url));

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
  /** What children stand behind. Default: the best there is. */
  readonly wall?: WallSetting;
  /** The program; the sandbox's own when absent. */
  readonly main?: string;
  /** Where its memory is watched: inside by a thread of its own, where the host cannot look into processes. */
  readonly watch?: Watch;
  /** Without Node's permission model: what holds then is held by the wall. */
  readonly bare?: boolean;
}

type Watch = 'inside' | 'outside';

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
      const program = { main, args: [watch], threads: watch === 'inside', bare };
      started = supervise(startEnclosed(kind, program), watch, child);
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

interface Started {
  readonly pid: number;
  send(message: ToChild): void;
  kill(): void;
  refer(referenced: boolean): void;
}

function supervise(enclosed: EnclosedProcess, watch: Watch, events: SandboxChild): Started {
  const conduct = createConduct();
  let memory: MemoryWatch | undefined;
  let fault: string | undefined;

  const kill = () => {
    channel.close();
    enclosed.kill();
  };
  const onFault = (why: string) => {
    fault = `it said ${why}`;
    kill();
  };
  const onFrame = (frame: Frame) => {
    const message = readFromChild(frame);
    if (conduct.heard(message) === 'drop') return;
    if (message.kind === 'ready' && watch === 'outside') memory = watchFrom(enclosed);
    if (message.kind !== 'idle' || !memory) return events.onMessage(message);
    memory.end();
    events.onMessage({ ...message, rssBytes: memory.residentBytes() });
  };
  const channel = openChannel(enclosed.channel, { onFrame, onFault }, FRAME_OF_CHILD);
  enclosed.onEnd((code, signal, failed) => {
    channel.close();
    memory?.close();
    const { stderr } = enclosed;
    const end = readEnd({ code, signal, stderr, fault: failed ?? fault });
    events.onEnd(memory?.tripped ? { kind: 'memory' } : end);
  });
  return {
    pid: enclosed.pid,
    send(message) {
      conduct.told(message);
      if (message.kind === 'run') memory?.begin(message.job.memoryBytes);
      const { head, wire } = partToChild(message);
      if (message.kind === 'crossing') channel.post(head, wire);
      else channel.send(head, wire);
    },
    kill,
    refer: enclosed.refer,
  };
}

/** Nothing foreign has run in it yet: the processes are those that were started. */
function watchFrom(enclosed: EnclosedProcess): MemoryWatch {
  const { pid, victim } = enclosed.locate();
  const memory = watchMemory(pid, victim);
  if (!memory) throw new Error('that it is ready, and no more children can be watched');
  return memory;
}
