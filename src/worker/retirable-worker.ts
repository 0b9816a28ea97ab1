/**
 * A Temporal worker for threads that can be retired while its activities continue. The SDK has one way to stop, which
 * cancels activities after the grace period: that cancellation is held back here until the process itself is to end.
 * Relies on what the SDK leaves open to subclasses (its version is pinned): how workflow threads and the native worker are made.
 */
import { setTimeout as wait } from 'node:timers/promises';
import {
  GracefulShutdownPeriodExpiredError,
  type Logger,
  Worker,
  type WorkerOptions,
} from '@temporalio/worker';
import { NativeWorker } from '@temporalio/worker/lib/worker.js';
import type { CompiledWorkerOptions } from '@temporalio/worker/lib/worker-options.js';
import type { ThreadedVMWorkflowCreatorOptions } from '@temporalio/worker/lib/workflow/threaded-vm.js';
import { type ContextWatch, startGuardedThreads } from './guarded-threads.ts';
import { HeldCancellations } from './held-cancellations.ts';
import type { PromptCancellations } from './prompt-cancellations.ts';

export interface RetirableWorker {
  /** Resolves when it has ended completely; rejects when it failed, or had to be ended by force. */
  run(): Promise<void>;
  /** It accepts nothing new; its activities run to their own end. */
  retire(): void;
  /** It accepts nothing new; its activities have their grace periods, and are then cancelled. Safe to call twice. */
  end(): void;
}

export interface GraceTimes {
  /** Of all activities but those that ask models. */
  readonly graceMs: number;
  readonly modelGraceMs: number;
  /** After this further time the rest is abandoned. */
  readonly forceMs: number;
}

type CreateNative = typeof NativeWorker.create;
type WorkflowCode = ThreadedVMWorkflowCreatorOptions['workflowBundle'];

export async function createRetirableWorker(
  options: WorkerOptions,
  times: GraceTimes,
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
  const worker = await GuardedWorker.create({ ...options, shutdownGraceTime: times.graceMs });
  return bindWorker(worker, cancellations, times);
}

function bindWorker(
  worker: Worker,
  cancellations: HeldCancellations,
  { graceMs, modelGraceMs, forceMs }: GraceTimes,
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
    const pause = (milliseconds: number) => wait(milliseconds, undefined, { signal: over.signal });
    // One that has retired starts its grace period now. Otherwise the SDK begins to cancel at the end of it.
    if (!retired) cancellations.releaseShort();
    await pause(graceMs);
    cancellations.releaseShort();
    await pause(Math.max(0, modelGraceMs - graceMs));
    cancellations.releaseAll();
    await pause(forceMs);
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
