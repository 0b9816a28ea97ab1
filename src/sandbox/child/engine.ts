/**
 * One run in one fresh isolate, from its first module to its result. The user's code runs on the engine's own
 * thread; this one stays free to end it.
 */
import { memoryMessage } from '../memory-message.ts';
import type { Crossing, Job, Remark, Settlement } from '../protocol.ts';
import { boot, type Deliver, install } from './boot.ts';
import { readError, toFailure } from './failure.ts';
import { createGraph, type Graph } from './graph.ts';
import { dieOfMemory } from './guarded-memory.ts';
import { readGuestMessage } from './guest-message.ts';
import { createLoader, type Loader } from './loader.ts';
import { readUsedMemory } from './used-memory.ts';

export interface EngineHost {
  cross(crossing: Crossing): Promise<void> | undefined;
  remark(remark: Remark): Promise<void> | undefined;
  /** Once. A result with functions leaves the isolate alive until `dispose`. */
  settle(settlement: Settlement, memoryUsedBytes: number | undefined): void;
}

export interface Engine {
  deliver(crossing: Crossing): void;
  /** Resolves when the isolate's thread is free: a long built-in may keep it, long after the isolate is gone. */
  dispose(): Promise<void>;
}

export function startEngine(job: Job, host: EngineHost): Engine {
  const booted = boot(job);
  const { isolate, context } = booted;
  let settled = false;
  let started = false;
  let disposed = false;
  let graph: Graph | undefined;
  let loader: Loader | undefined;
  let deliver: Deliver | undefined;

  const settle = async (settlement: Settlement) => {
    if (settled) return;
    settled = true;
    host.settle(settlement, await readUsedMemory(isolate));
  };
  const fail = (error: unknown) => {
    if (disposed) return;
    // The engine disposes an isolate that passes its limit; nothing inside is told.
    if (isolate.isDisposed) void settle(outOfMemory(job));
    else void settle(toFailure(error, job, graph?.sources));
  };
  /**
   * A task of the isolate was rejected: by whatever promise of the user's went unhandled in it. That alone ends
   * nothing; but a graph that was being evaluated may have failed, and then nothing else would say so.
   */
  const onRejectedTask = async (): Promise<void> => {
    if (disposed) return;
    // Held for the functions of its result: they cannot answer any more, and only the child's end tells who waits.
    if (settled && isolate.isDisposed) dieOfMemory();
    if (settled) return;
    if (isolate.isDisposed) return fail(undefined);
    await loader?.probe();
    if (started || !graph) return;
    try {
      await graph.probe(await graph.entry);
    } catch (error) {
      if (!started) fail(error);
    }
  };
  /** Everything that may have the user's code on the isolate's thread. */
  const tasks = new Set<Promise<unknown>>();
  const run = (task: Promise<unknown>) => {
    tasks.add(task);
    const done = () => void tasks.delete(task);
    void task.then(done, () => {
      done();
      return onRejectedTask();
    });
  };

  const say = (says: string, first: number, second: number, text: string, bytes?: ArrayBuffer) => {
    const message = readGuestMessage(says, first, second, text, bytes);
    switch (message.kind) {
      case 'started':
        started = true;
        return;
      case 'crossing':
        return host.cross(message.crossing);
      case 'remark':
        return host.remark(message.remark);
      case 'load':
        void loader?.load(message.id, message.referrer, message.specifier);
        return;
      case 'evaluated':
        loader?.evaluated(message.index);
        return;
      case 'done':
        void settle({ status: 'success', wire: message.wire, held: message.functions > 0 });
        return;
      case 'threw':
        void settle(toFailure(readError(message.wire), job, graph?.sources));
        return;
      case 'missing':
        void settle(missingExport(job, message.names));
    }
  };

  const begin = async () => {
    deliver = install(booted, job, say);
    graph = createGraph({ isolate, context, boot: booted.module, job });
    loader = createLoader(graph, deliver, run);
    const driver = await graph.linkEntry();
    run(driver.evaluate());
  };
  begin().catch(fail);

  return {
    deliver(crossing) {
      if (disposed || !deliver) return;
      const { id, wire } = crossing;
      if (crossing.kind === 'call') run(deliver('call', id, crossing.fn, wire.text, wire.bytes));
      else run(deliver(crossing.ok ? 'answer' : 'refusal', id, 0, wire.text, wire.bytes));
    },
    async dispose() {
      disposed = true;
      if (!isolate.isDisposed) {
        // Last in the thread's line: it settles when all before it, finalizers too, have left the thread.
        tasks.add(isolate.getHeapStatistics());
        isolate.dispose();
      }
      await Promise.allSettled(tasks);
    },
  };
}

function outOfMemory(job: Job): Settlement {
  return { status: 'memory', error: { name: 'MemoryError', message: memoryMessage(job.memoryBytes) } };
}

function missingExport({ fn, filename }: Job, names: string): Settlement {
  const has = names === '' ? 'has no exports' : `exports ${names}`;
  const message = `'${filename}' has no export '${fn}': it ${has}. Name one of its exports in execute.fn.`;
  return { status: 'link_error', error: { name: 'LinkError', message, filename } };
}
