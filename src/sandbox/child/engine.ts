/**
 * One run in one fresh isolate, from its first module to its result. The user's code runs on a thread of the engine;
 * this thread stays free to end it.
 */
import type ivm from 'isolated-vm';
import type { Wire } from '../codec/wire.ts';
import { SANDBOX_LIMITS } from '../limits.ts';
import { memoryMessage } from '../memory-message.ts';
import type { Crossing, Job, Remark, Settlement } from '../protocol.ts';
import { type Booted, boot, type Deliver, install } from './boot.ts';
import { readError, toFailure } from './failure.ts';
import { Graph } from './graph.ts';
import { exitOutOfMemory } from './guarded-memory.ts';
import { Loader } from './loader.ts';

export interface EngineHost {
  cross(crossing: Crossing): Promise<void> | undefined;
  remark(remark: Remark): Promise<void> | undefined;
  /** Called once. If the result has functions, the isolate stays alive until `dispose`. */
  settle(settlement: Settlement, memoryUsedBytes: number | undefined): void;
}

/**
 * `linking` until the guest reports that the entry module has been evaluated, then `running` until the result or an
 * error is known. A `settled` engine can still be called, through functions of its result.
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
  /** Pending tasks that may run user code on the isolate's thread. */
  readonly #tasks = new Set<Promise<unknown>>();
  #phase: Phase = 'linking';
  /** Undefined until the run's inputs are installed, which fails if they do not fit into the isolate. */
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

  /** Resolves when the isolate's thread is free: a long built-in may occupy it long after the isolate is disposed. */
  async dispose(): Promise<void> {
    const { isolate } = this.#booted;
    this.#phase = 'disposed';
    if (!isolate.isDisposed) {
      // Queued last on the thread: settles when everything before it, finalizers included, has left the thread.
      this.#tasks.add(isolate.getHeapStatistics());
      isolate.dispose();
    }
    await Promise.allSettled(this.#tasks);
  }

  async #begin(): Promise<void> {
    const { isolate, context, module } = this.#booted;
    const job = this.#job;
    const deliver = install(this.#booted, job, (says, first, second, text, bytes) =>
      this.#handleMessage(readGuestMessage(says, first, second, text, bytes)),
    );
    const graph = new Graph({ isolate, context, boot: module, job });
    const loader = new Loader(graph, deliver, (task) => this.#run(task));
    this.#program = { graph, loader, deliver };
    const driver = await graph.linkEntry();
    this.#run(driver.evaluate());
  }

  #handleMessage(message: GuestMessage): Promise<void> | undefined {
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
    // The engine disposes an isolate that exceeds its limit, without any signal to the code inside.
    const overrun = this.#booted.isolate.isDisposed;
    void this.#settle(overrun ? memorySettlement(this.#job) : this.#failureOf(error));
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
   * Handles the rejection of a task of the isolate: any unhandled rejection in user code causes one. That alone ends
   * nothing; but a graph that was being evaluated may have failed, and nothing else would report it.
   */
  async #onRejectedTask(): Promise<void> {
    if (this.#phase === 'disposed') return;
    const overrun = this.#booted.isolate.isDisposed;
    // Held for the functions of its result, which can no longer answer: only the child's end reaches their callers.
    if (this.#phase === 'settled' && overrun) exitOutOfMemory();
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

function memorySettlement(job: Job): Settlement {
  return { status: 'memory', error: { name: 'MemoryError', message: memoryMessage(job.memoryBytes) } };
}

function missingExport({ fn, filename }: Job, names: string): Settlement {
  const has = names === '' ? 'has no exports' : `exports ${names}`;
  const message = `'${filename}' has no export '${fn}': it ${has}. Name one of its exports in execute.fn.`;
  return { status: 'link_error', error: { name: 'LinkError', message, filename } };
}

type GuestMessage =
  | { readonly kind: 'started' }
  | { readonly kind: 'crossing'; readonly crossing: Crossing }
  | { readonly kind: 'remark'; readonly remark: Remark }
  | { readonly kind: 'load'; readonly id: number; readonly referrer: number; readonly specifier: string }
  /** A module that `import()` requested has been evaluated. */
  | { readonly kind: 'evaluated'; readonly index: number }
  | { readonly kind: 'done'; readonly functions: number; readonly wire: Wire }
  | { readonly kind: 'threw'; readonly wire: Wire }
  | { readonly kind: 'missing'; readonly names: string };

/** Parses the messages that the sandbox's own code in the isolate sends through its port. */
function readGuestMessage(
  says: string,
  first: number,
  second: number,
  text: string,
  buffer?: ArrayBuffer,
): GuestMessage {
  const wire: Wire = buffer ? { text, bytes: new Uint8Array(buffer) } : { text };
  switch (says) {
    case 'call':
      return { kind: 'crossing', crossing: { kind: 'call', id: first, fn: second, wire } };
    case 'answer':
    case 'refusal':
      return { kind: 'crossing', crossing: { kind: 'answer', id: first, ok: says === 'answer', wire } };
    case 'report':
      return { kind: 'remark', remark: { kind: 'report', wire } };
    case 'log':
      return { kind: 'remark', remark: { kind: 'log', level: first, wire } };
    case 'load':
      return { kind: 'load', id: first, referrer: second, specifier: text };
    case 'evaluated':
      return { kind: 'evaluated', index: first };
    case 'done':
      return { kind: 'done', functions: first, wire };
    case 'threw':
      return { kind: 'threw', wire };
    case 'missing':
      return { kind: 'missing', names: text };
    default:
      return { kind: 'started' };
  }
}

/**
 * Reads how much memory the isolate of a run holds, on its own thread. User code may block that thread forever, so the
 * wait is limited; but a child without a figure is replaced, which costs far more than waiting for a busy machine.
 * Returns bytes; undefined if the code keeps its thread busy after its result, or if the isolate is gone.
 */
export async function readUsedMemory(
  isolate: Pick<ivm.Isolate, 'isDisposed' | 'getHeapStatistics'>,
): Promise<number | undefined> {
  if (isolate.isDisposed) return undefined;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    // If this process itself was late, an answer that has arrived is read first.
    timer = setTimeout(() => setImmediate(() => resolve(undefined)), SANDBOX_LIMITS.stopGraceMs);
  });
  const read = isolate.getHeapStatistics().then(
    (heap) => heap.used_heap_size + heap.externally_allocated_size,
    () => undefined,
  );
  const bytes = await Promise.race([read, late]);
  clearTimeout(timer);
  return bytes;
}
