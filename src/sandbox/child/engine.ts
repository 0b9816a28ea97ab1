/**
 * One run in one fresh isolate, from its first module to its result. The user's code runs on the engine's own
 * thread; this one stays free to end it.
 */
import { memoryMessage } from '../memory-message.ts';
import type { Crossing, Job, Remark, Settlement } from '../protocol.ts';
import { type Booted, boot, type Deliver, install } from './boot.ts';
import { readError, toFailure } from './failure.ts';
import { Graph } from './graph.ts';
import { dieOfMemory } from './guarded-memory.ts';
import { type GuestMessage, readGuestMessage } from './guest-message.ts';
import { Loader } from './loader.ts';
import { readUsedMemory } from './used-memory.ts';

export interface EngineHost {
  cross(crossing: Crossing): Promise<void> | undefined;
  remark(remark: Remark): Promise<void> | undefined;
  /** Once. A result with functions leaves the isolate alive until `dispose`. */
  settle(settlement: Settlement, memoryUsedBytes: number | undefined): void;
}

/**
 * `linking` until the guest says that the entry module has been evaluated, then `running` until the result or an error is known. A
 * `settled` engine may still be called, through functions of its result.
 */
type Phase = 'linking' | 'running' | 'settled' | 'disposed';

/** The user's code in the isolate. */
interface Program {
  readonly graph: Graph;
  readonly loader: Loader;
  readonly deliver: Deliver;
}

export class Engine {
  readonly #job: Job;
  readonly #host: EngineHost;
  readonly #booted: Booted;
  /** Everything that may have the user's code on the isolate's thread. */
  readonly #tasks = new Set<Promise<unknown>>();
  #phase: Phase = 'linking';
  /** Absent where the run's inputs did not fit into the isolate. */
  #program: Program | undefined;

  constructor(job: Job, host: EngineHost) {
    this.#job = job;
    this.#host = host;
    this.#booted = boot(job);
    this.#begin().catch((error) => this.#fail(error));
  }

  deliver(crossing: Crossing): void {
    if (this.#phase === 'disposed' || !this.#program) return;
    const { deliver } = this.#program;
    const { id, wire } = crossing;
    if (crossing.kind === 'call') this.#run(deliver('call', id, crossing.fn, wire.text, wire.bytes));
    else this.#run(deliver(crossing.ok ? 'answer' : 'refusal', id, 0, wire.text, wire.bytes));
  }

  /** Resolves when the isolate's thread is free: a long built-in may keep it, long after the isolate is gone. */
  async dispose(): Promise<void> {
    const { isolate } = this.#booted;
    this.#phase = 'disposed';
    if (!isolate.isDisposed) {
      // Last in the thread's line: it settles when all before it, finalizers too, have left the thread.
      this.#tasks.add(isolate.getHeapStatistics());
      isolate.dispose();
    }
    await Promise.allSettled(this.#tasks);
  }

  async #begin(): Promise<void> {
    const { isolate, context, module } = this.#booted;
    const job = this.#job;
    const deliver = install(this.#booted, job, (says, first, second, text, bytes) =>
      this.#hear(readGuestMessage(says, first, second, text, bytes)),
    );
    const graph = new Graph({ isolate, context, boot: module, job });
    const loader = new Loader(graph, deliver, (task) => this.#run(task));
    this.#program = { graph, loader, deliver };
    const driver = await graph.linkEntry();
    this.#run(driver.evaluate());
  }

  #hear(message: GuestMessage): Promise<void> | undefined {
    switch (message.kind) {
      case 'started':
        if (this.#phase === 'linking') this.#phase = 'running';
        return;
      case 'crossing':
        return this.#host.cross(message.crossing);
      case 'remark':
        return this.#host.remark(message.remark);
      case 'load':
        void this.#program?.loader.load(message.id, message.referrer, message.specifier);
        return;
      case 'evaluated':
        this.#program?.loader.evaluated(message.index);
        return;
      case 'done':
        void this.#settle({ status: 'success', wire: message.wire, held: message.functions > 0 });
        return;
      case 'threw':
        void this.#settle(this.#failureOf(readError(message.wire)));
        return;
      case 'missing':
        void this.#settle(missingExport(this.#job, message.names));
    }
  }

  async #settle(settlement: Settlement): Promise<void> {
    if (this.#hasEnded()) return;
    this.#phase = 'settled';
    this.#host.settle(settlement, await readUsedMemory(this.#booted.isolate));
  }

  #hasEnded(): boolean {
    return this.#phase === 'settled' || this.#phase === 'disposed';
  }

  #fail(error: unknown): void {
    // The engine disposes an isolate that passes its limit; nothing inside is told.
    const overrun = this.#booted.isolate.isDisposed;
    void this.#settle(overrun ? outOfMemory(this.#job) : this.#failureOf(error));
  }

  #failureOf(error: unknown): Settlement {
    return toFailure(error, this.#job, this.#program?.graph.sources);
  }

  #run(task: Promise<unknown>): void {
    this.#tasks.add(task);
    const done = () => void this.#tasks.delete(task);
    void task.then(done, () => {
      done();
      return this.#onRejectedTask();
    });
  }

  /**
   * A task of the isolate was rejected: by whatever promise of the user's went unhandled in it. That alone ends
   * nothing; but a graph that was being evaluated may have failed, and then nothing else would say so.
   */
  async #onRejectedTask(): Promise<void> {
    if (this.#phase === 'disposed') return;
    const overrun = this.#booted.isolate.isDisposed;
    // Held for the functions of its result: they cannot answer any more, and only the child's end tells who waits.
    if (this.#phase === 'settled' && overrun) dieOfMemory();
    if (this.#phase === 'settled') return;
    if (overrun) return this.#fail(undefined);
    await this.#program?.loader.probe();
    await this.#probeEntry();
  }

  async #probeEntry(): Promise<void> {
    if (this.#phase !== 'linking' || !this.#program) return;
    const { graph } = this.#program;
    try {
      await graph.probe(await graph.entry);
    } catch (error) {
      if (this.#phase === 'linking') this.#fail(error);
    }
  }
}

function outOfMemory(job: Job): Settlement {
  return { status: 'memory', error: { name: 'MemoryError', message: memoryMessage(job.memoryBytes) } };
}

function missingExport({ fn, filename }: Job, names: string): Settlement {
  const has = names === '' ? 'has no exports' : `exports ${names}`;
  const message = `'${filename}' has no export '${fn}': it ${has}. Name one of its exports in execute.fn.`;
  return { status: 'link_error', error: { name: 'LinkError', message, filename } };
}
