/**
 * One run in one fresh isolate, from its first module to its result. The user's code runs on a thread of the engine;
 * this thread stays free to end it.
 */

import type ivm from 'isolated-vm';
import { encode } from '../codec/encode.ts';
import type { Wire } from '../codec/wire.ts';
import { SANDBOX_LIMITS, TRANSFER } from '../limits.ts';
import { type Crossing, type Job, memoryMessage, type Remark, type Settlement } from '../protocol.ts';
import { type Booted, boot, type Deliver, type GuestListener, install } from './boot.ts';
import { readError, toDynamicError, toFailure } from './failure.ts';
import { Graph, type Target } from './graph.ts';
import { exitOutOfMemory } from './guarded-memory.ts';

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
    const deliver = install(this.#booted, job, this.#hear);
    const graph = new Graph({ isolate, context, boot: module, job });
    const loader = new Loader(graph, deliver, (task) => this.#run(task));
    this.#program = { graph, loader, deliver };
    const driver = await graph.linkEntry();
    this.#run(driver.evaluate());
  }

  /** Hears what the sandbox's own code in the isolate says through its port. */
  readonly #hear: GuestListener = (says, first, second, text, buffer) => {
    const wire: Wire = buffer ? { text, bytes: new Uint8Array(buffer) } : { text };
    switch (says) {
      case 'call':
        return this.#host.cross({ kind: 'call', id: first, fn: second, wire });
      case 'answer':
      case 'refusal':
        return this.#host.cross({ kind: 'answer', id: first, ok: says === 'answer', wire });
      case 'report':
        return this.#host.remark({ kind: 'report', wire });
      case 'log':
        return this.#host.remark({ kind: 'log', level: first, wire });
      case 'load':
        void this.#program?.loader.load(first, second, text);
        return;
      case 'evaluated':
        this.#program?.loader.evaluated(first);
        return;
      case 'done':
        void this.#settle({ status: 'success', wire, held: first > 0 });
        return;
      case 'threw':
        void this.#settle(this.#failureOf(readError(wire)));
        return;
      case 'missing':
        void this.#settle(missingExport(this.#job, text));
        return;
      default:
        if (this.#phase === 'linking') this.#phase = 'running';
    }
  };

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

/**
 * `import()` in user code (§13.2): links and evaluates a module once, then settles every `import()` of it. A module
 * that failed fails for all of them, as the language requires.
 */
type State =
  /** `waiting` are the ids of the pending `import()` calls. */
  | { readonly kind: 'evaluating'; readonly target: Target; readonly waiting: number[] }
  | { readonly kind: 'loaded' }
  | { readonly kind: 'failed'; readonly error: unknown };

class Loader {
  readonly #graph: Graph;
  readonly #deliver: Deliver;
  readonly #run: (task: Promise<unknown>) => void;
  /** State by module number. */
  readonly #states = new Map<number, State>();

  constructor(graph: Graph, deliver: Deliver, run: (task: Promise<unknown>) => void) {
    this.#graph = graph;
    this.#deliver = deliver;
    this.#run = run;
  }

  async load(id: number, referrer: number, specifier: string): Promise<void> {
    let target: Target;
    try {
      target = await this.#graph.find(specifier, referrer);
    } catch (error) {
      return this.#refuse(id, error);
    }
    const { index } = target;
    const known = this.#states.get(index);
    if (known) return this.#answer(id, index, known);
    this.#states.set(index, { kind: 'evaluating', target, waiting: [id] });
    try {
      this.#run((await this.#graph.linkLoad(target)).evaluate());
    } catch (error) {
      this.#settle(index, { kind: 'failed', error });
    }
  }

  /** Called when the module with the number `index` has been evaluated. */
  evaluated(index: number): void {
    this.#settle(index, { kind: 'loaded' });
  }

  /** Checks whether any module under evaluation has failed. */
  async probe(): Promise<void> {
    for (const [index, state] of this.#states) {
      if (state.kind !== 'evaluating') continue;
      try {
        await this.#graph.probe(state.target);
      } catch (error) {
        this.#settle(index, { kind: 'failed', error });
      }
    }
  }

  #settle(index: number, state: State): void {
    const before = this.#states.get(index);
    if (before?.kind !== 'evaluating') return;
    this.#states.set(index, state);
    for (const id of before.waiting) this.#answer(id, index, state);
  }

  #answer(id: number, index: number, state: State): void {
    if (state.kind === 'loaded') this.#run(this.#deliver('loaded', id, index, ''));
    else if (state.kind === 'failed') this.#refuse(id, state.error);
    else state.waiting.push(id);
  }

  #refuse(id: number, error: unknown): void {
    const { name, message, stack } = toDynamicError(error, this.#graph.sources);
    const { wire } = encode([Object.assign(new Error(message), { name }), stack], undefined, TRANSFER);
    this.#run(this.#deliver('not_loaded', id, 0, wire.text, wire.bytes));
  }
}
