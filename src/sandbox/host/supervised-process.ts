/**
 * A child whose process has been started: its messages are parsed and checked, its memory is watched, and its end is
 * reported. A child that violates the protocol is killed.
 */
import { openChannel } from '../channel.ts';
import { type Frame, MAX_CHILD_FRAME_BYTES } from '../frame.ts';
import { partToChild } from '../message-frame.ts';
import type { FromChild, ToChild } from '../protocol.ts';
import { type ChildEnd, readEnd } from './child-end.ts';
import type { EnclosedProcess } from './enclosed-process.ts';
import { readFromChild } from './from-child.ts';
import { ProtocolChecker } from './protocol-checker.ts';
import { type MemoryWatch, watchMemory } from './wall/memory-watch.ts';

/** Where memory is watched: `inside` by a thread of the child, if the host cannot inspect processes. */
export type Watch = 'inside' | 'outside';

export interface SupervisedEvents {
  onMessage(message: FromChild): void;
  onEnd(end: ChildEnd): void;
}

export class SupervisedProcess {
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
