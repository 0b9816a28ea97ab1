/**
 * A Temporal worker for threads that can be retired while its activities continue. The SDK has one way to stop, which
 * cancels activities after the grace period: that cancellation is held back here until the process itself is to end.
 * Relies on what the SDK leaves open to subclasses (its version is pinned): how workflow threads and the native worker are made.
 */
import { setTimeout as wait } from 'node:timers/promises';
import proto from '@temporalio/proto';
import {
  GracefulShutdownPeriodExpiredError,
  type Logger,
  Worker,
  type WorkerOptions,
} from '@temporalio/worker';
import { NativeWorker, type NativeWorkerLike } from '@temporalio/worker/lib/worker.js';
import type { CompiledWorkerOptions } from '@temporalio/worker/lib/worker-options.js';
import type { ThreadedVMWorkflowCreatorOptions } from '@temporalio/worker/lib/workflow/threaded-vm.js';
import { type ContextWatch, startGuardedThreads } from './guarded-threads.ts';
import type { PromptCancellations } from './prompt-cancellations.ts';
import { TaskLine } from './task-line.ts';

export interface RetirableWorker {
  /** Resolves when it has ended completely; rejects when it failed, or had to be ended by force. */
  run(): Promise<void>;
  /** It accepts nothing new; its activities run to their own end. */
  retire(): void;
  /** It accepts nothing new; its activities have the grace period, and are then cancelled. Safe to call twice. */
  end(): void;
}

export interface GraceTimes {
  readonly graceMs: number;
  /** After this further time the rest is abandoned. */
  readonly forceMs: number;
}

type CreateNative = typeof NativeWorker.create;
type WorkflowCode = ThreadedVMWorkflowCreatorOptions['workflowBundle'];

export async function createRetirableWorker(
  options: WorkerOptions,
  { graceMs, forceMs }: GraceTimes,
  watch: ContextWatch,
  prompt: PromptCancellations,
): Promise<RetirableWorker> {
  const cancellations = new HeldCancellations();
  // One class for each worker: the SDK makes both parts in static methods, which have no other way to know their worker.
  class GuardedWorker extends Worker {
    protected static override nativeWorkerCtor = {
      createReplay: NativeWorker.createReplay,
      create: async (...given: Parameters<CreateNative>) =>
        cancellations.hold(await prompt.createNative(...given)),
    };

    protected static override async createWorkflowCreator(
      workflowBundle: WorkflowCode,
      compiled: CompiledWorkerOptions,
      logger: Logger,
    ) {
      const { isolateExecutionTimeoutMs, workflowThreadPoolSize, patchActivationCallback } = compiled;
      const threads = {
        workflowBundle,
        isolateExecutionTimeoutMs,
        threadPoolSize: workflowThreadPoolSize,
        reuseV8Context: true,
        registeredActivityNames: new Set(compiled.activities.keys()),
        logger,
        patchActivationCallback,
      };
      return startGuardedThreads(threads, watch);
    }
  }
  const worker = await GuardedWorker.create({ ...options, shutdownGraceTime: graceMs });
  return bindWorker(worker, cancellations, { graceMs, forceMs });
}

function bindWorker(
  worker: Worker,
  cancellations: HeldCancellations,
  { graceMs, forceMs }: GraceTimes,
): RetirableWorker {
  const forced = Promise.withResolvers<never>();
  // A caller that does not run it gets no rejection.
  forced.promise.catch(() => {});
  const over = new AbortController();
  let retired = false;
  let ending = false;
  const stop = () => {
    if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  const force = async () => {
    // One that has retired starts its grace period now.
    if (retired) await wait(graceMs, undefined, { signal: over.signal });
    cancellations.release();
    await wait(retired ? forceMs : graceMs + forceMs, undefined, { signal: over.signal });
    forced.reject(
      new GracefulShutdownPeriodExpiredError('Activities did not end in time: they were left behind'),
    );
  };
  return {
    run: () => Promise.race([worker.run(), forced.promise]).finally(() => over.abort()),
    retire() {
      retired = true;
      stop();
    },
    end() {
      stop();
      if (ending) return;
      ending = true;
      force().catch(() => {});
    },
  };
}

// Node's import does not detect its named exports.
const { ActivityCancelReason, ActivityTask } = proto.coresdk.activity_task;

/** Stands between the native worker and the SDK: cancellations for the worker's end wait until the process ends. */
class HeldCancellations {
  #held: Buffer[] = [];
  #released = false;
  #line: TaskLine | undefined;

  release(): void {
    this.#released = true;
    for (const task of this.#held.splice(0)) this.#line?.put(task);
  }

  hold(worker: NativeWorkerLike): NativeWorkerLike {
    const line = new TaskLine(worker.pollActivityTask, (task) => {
      const passes = this.#released || !isShutdownCancellation(task);
      if (!passes) this.#held.push(task);
      return passes;
    });
    this.#line = line;
    return Object.assign(worker, { pollActivityTask: () => line.next() });
  }
}

function isShutdownCancellation(task: Buffer): boolean {
  const { cancel } = ActivityTask.decode(new Uint8Array(task));
  return cancel?.reason === ActivityCancelReason.WORKER_SHUTDOWN;
}
