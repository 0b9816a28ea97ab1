/**
 * One sandbox child as its parent sees it: how it is started, addressed and killed, and how its end is reported.
 * - A child runs behind the best wall available, which is chosen before it starts (`wall/`).
 * - Nothing a child writes is trusted: frames are bounded, messages are parsed by hand, and a child that violates the
 *   protocol is killed (`SupervisedProcess`). The holder of its run is notified as of any other end.
 * - On Linux a child's memory is watched from outside, even while the host is busy.
 * - A child ends when the channel closes, and when its parent dies.
 */

import { errorMessage } from '../../core/value/error.ts';
import { openChannel } from '../channel.ts';
import { type Frame, MAX_CHILD_FRAME_BYTES } from '../frame.ts';
import { partToChild } from '../message-frame.ts';
import type { FromChild, ToChild } from '../protocol.ts';
import { type ChildEnd, readEnd } from './child-end.ts';
import { type EnclosedProcess, startEnclosed } from './enclosed-process.ts';
import { readFromChild } from './from-child.ts';
import { childProgram, WATCHDOG } from './program.ts';
import { ProtocolChecker } from './protocol-checker.ts';
import { chooseWall } from './wall/choose.ts';
import { type MemoryWatch, watchMemory } from './wall/memory-watch.ts';
import { findAbsent } from './wall/readable.ts';
import type { WallKind, WallSetting } from './wall/wall.ts';

export type { ChildEnd } from './child-end.ts';

export interface SpawnOptions {
  /** The wall that isolates children. Default: the best available. */
  readonly wall?: WallSetting;
  /** Path of the program. Default: the sandbox's own. */
  readonly main?: string;
  readonly watch?: Watch;
  /** Without Node's permission model: only the wall restricts the child. */
  readonly bare?: boolean;
}

const WATCH = process.platform === 'linux' ? 'outside' : 'inside';

/** `failed`: its process could not be started, or the child was killed before that. */
type State =
  | { readonly kind: 'choosing wall' }
  | { readonly kind: 'started'; readonly process: SupervisedProcess }
  | { readonly kind: 'failed' };

/** The process starts once wall and program are known: immediately, except for the first child of a host. */
export class SandboxChild {
  onMessage: (message: FromChild) => void = () => undefined;
  onEnd: (end: ChildEnd) => void = () => undefined;
  readonly #options: Required<Omit<SpawnOptions, 'wall' | 'main'>>;
  #state: State = { kind: 'choosing wall' };
  #referenced = true;

  constructor({ wall = 'auto', main, watch = WATCH, bare = false }: SpawnOptions = {}) {
    this.#options = { watch, bare };
    Promise.all([chooseWall(wall), childProgram(main)]).then(
      ([{ kind }, program]) => {
        const what = findAbsent();
        if (what === undefined) this.#start(kind, program);
        else this.#fail({ kind: 'absent', what });
      },
      (error) => this.#fail({ kind: 'crashed', how: errorMessage(error) }),
    );
  }

  get pid(): number {
    return this.#process?.pid ?? -1;
  }

  send(message: ToChild): void {
    this.#process?.send(message);
  }

  kill(): void {
    if (this.#state.kind === 'choosing wall') this.#state = { kind: 'failed' };
    this.#process?.kill();
  }

  /** While referenced, the child keeps this process alive. */
  ref(): void {
    this.#refer(true);
  }

  unref(): void {
    this.#refer(false);
  }

  get #process(): SupervisedProcess | undefined {
    return this.#state.kind === 'started' ? this.#state.process : undefined;
  }

  #refer(referenced: boolean): void {
    this.#referenced = referenced;
    this.#process?.refer(referenced);
  }

  #start(wall: WallKind, main: string): void {
    const { watch, bare } = this.#options;
    const args = watch === 'inside' ? [WATCHDOG] : [];
    try {
      if (this.#state.kind === 'failed') throw new Error('it was ended before it started');
      const enclosed = startEnclosed(wall, { main, args, threads: watch === 'inside', bare });
      const process = new SupervisedProcess(enclosed, watch, {
        onMessage: (message) => this.onMessage(message),
        onEnd: (end) => this.onEnd(end),
      });
      this.#state = { kind: 'started', process };
      process.refer(this.#referenced);
    } catch (error) {
      this.#fail({ kind: 'crashed', how: errorMessage(error) });
    }
  }

  #fail(end: ChildEnd): void {
    this.#state = { kind: 'failed' };
    this.onEnd(end);
  }
}

/**
 * A child whose process has been started: its messages are parsed and checked, its memory is watched, and its end is
 * reported. A child that violates the protocol is killed. Where memory is watched: `inside` by a thread of the child,
 * if the host cannot inspect processes.
 */
type Watch = 'inside' | 'outside';

interface SupervisedEvents {
  onMessage(message: FromChild): void;
  onEnd(end: ChildEnd): void;
}

class SupervisedProcess {
  readonly #process: EnclosedProcess;
  readonly #watch: Watch;
  readonly #events: SupervisedEvents;
  readonly #checker = new ProtocolChecker();
  readonly #channel: ReturnType<typeof openChannel>;
  /** Set once the child is ready, if it is watched from outside. */
  #memory: MemoryWatch | undefined;
  #ready = false;
  /** Why the child was killed. */
  #fault: string | undefined;

  constructor(enclosed: EnclosedProcess, watch: Watch, events: SupervisedEvents) {
    this.#process = enclosed;
    this.#watch = watch;
    this.#events = events;
    const onFrame = (frame: Frame) => this.#onFrame(frame);
    const onFault = (why: string) => this.#onFault(why);
    this.#channel = openChannel(enclosed.channel, { onFrame, onFault }, MAX_CHILD_FRAME_BYTES);
    enclosed.onEnd((code, signal, failed) => this.#onEnd(code, signal, failed));
  }

  get pid(): number {
    return this.#process.pid;
  }

  send(message: ToChild): void {
    this.#checker.tell(message);
    if (message.kind === 'run') this.#memory?.begin(message.job.memoryBytes);
    const { head, wire } = partToChild(message);
    if (message.kind === 'crossing') this.#channel.post(head, wire);
    else this.#channel.send(head, wire);
  }

  kill(): void {
    this.#channel.close();
    this.#process.kill();
  }

  refer(referenced: boolean): void {
    this.#process.refer(referenced);
  }

  /** What this throws is reported by the channel as a fault. */
  #onFrame(frame: Frame): void {
    const message = readFromChild(frame);
    if (this.#checker.receive(message) === 'drop') return;
    if (message.kind === 'ready') this.#ready = true;
    if (message.kind === 'ready' && this.#watch === 'outside') this.#memory = watchFrom(this.#process);
    this.#events.onMessage(message.kind === 'idle' ? this.#withMeasuredMemory(message) : message);
  }

  /** If the child is watched from outside, replaces its own figure by the kernel's. */
  #withMeasuredMemory(idle: Extract<FromChild, { kind: 'idle' }>): FromChild {
    if (!this.#memory) return idle;
    this.#memory.end();
    return { ...idle, rssBytes: this.#memory.residentBytes() };
  }

  #onFault(why: string): void {
    this.#fault = `its message was rejected: ${why}`;
    this.kill();
  }

  #onEnd(code: number | null, signal: NodeJS.Signals | null, failed: string | undefined): void {
    this.#channel.close();
    this.#memory?.close();
    const { stderr } = this.#process;
    const fault = failed ?? this.#fault;
    const end = readEnd({ code, signal, stderr, ready: this.#ready, fault });
    this.#events.onEnd(this.#memory?.tripped ? { kind: 'memory' } : end);
  }
}

/** Called before any untrusted code has run in the child: its processes are those that were started. */
function watchFrom(enclosed: EnclosedProcess): MemoryWatch {
  const { pid, victim } = enclosed.locate();
  const memory = watchMemory(pid, victim);
  if (!memory) throw new Error('too many children to watch their memory');
  return memory;
}
