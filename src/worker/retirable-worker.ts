/**
 * A Temporal worker for threads that can be retired while its activities continue. The SDK's only way to stop a worker
 * cancels its activities after the grace period: that cancellation is held back here until the process itself must end.
 * Overrides the protected members of the SDK's worker that create workflow threads and the native worker; the SDK's
 * version is pinned.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { coresdk } from '@temporalio/proto';
import {
  GracefulShutdownPeriodExpiredError,
  type Logger,
  Worker,
  type WorkerOptions,
} from '@temporalio/worker';
import { EvictionReason } from '@temporalio/worker/lib/replay.js';
import { NativeWorker } from '@temporalio/worker/lib/worker.js';
import type { CompiledWorkerOptions } from '@temporalio/worker/lib/worker-options.js';
import { WORKFLOW_TYPE } from '../core/thread/start-options.ts';
import type { LoadedBundle } from '../workflow-bundle.ts';
import type { DivergedRuns } from './diverged-runs.ts';
import { type ContextWatch, startGuardedThreads } from './guarded-threads.ts';
import { HeldCancellations } from './held-cancellations.ts';
import type { PromptCancellations } from './prompt-cancellations.ts';

export interface RetirableWorker {
  /** Resolves when the worker has ended completely; rejects if it failed, or if its activities had to be abandoned. */
  run(): Promise<void>;
  /** Accepts nothing new; running activities continue to their own end. */
  retire(): void;
  /** Accepts nothing new; running activities are cancelled after their grace periods. Safe to call twice. */
  end(): void;
}

export interface GraceTimes {
  /** Grace period of all activities except those that ask models. */
  readonly graceMs: number;
  readonly modelGraceMs: number;
  /** Further time after both grace periods, after which remaining activities are abandoned. */
  readonly forceMs: number;
}

interface Eviction {
  readonly runId: string;
  readonly evictJob: coresdk.workflow_activation.IRemoveFromCache;
}

type CreateNative = typeof NativeWorker.create;

export async function createRetirableWorker(
  options: WorkerOptions,
  bundle: LoadedBundle,
  times: GraceTimes,
  watch: ContextWatch,
  prompt: PromptCancellations,
  diverged: DivergedRuns,
): Promise<RetirableWorker> {
  const cancellations = new HeldCancellations();
  /** Workflow ids of the threads in the SDK's cache, by run id. */
  const loaded = new Map<string, string>();
  // One class per worker: the SDK creates both parts in static methods, which cannot know their worker in any other
  // way.
  class GuardedWorker extends Worker {
    /** Calls `listener` for each run that the SDK drops from its cache. */
    onEviction(listener: (eviction: Eviction) => void): void {
      this.evictionsEmitter.on('eviction', listener as () => void);
    }

    protected static override nativeWorkerCtor = {
      createReplay: NativeWorker.createReplay,
      create: async (...given: Parameters<CreateNative>) =>
        cancellations.hold(await prompt.createNative(...given)),
    };

    protected static override async getOrCreateBundle() {
      return bundle;
    }

    protected static override async createWorkflowCreator(
      workflowBundle: LoadedBundle,
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
      return startGuardedThreads(threads, {
        ...watch,
        admit(workflow) {
          watch.admit(workflow);
          if (workflow.workflowType === WORKFLOW_TYPE) loaded.set(workflow.runId, workflow.workflowId);
        },
      });
    }
  }
  const worker = (await GuardedWorker.create({
    ...options,
    // The SDK asks for tasks of workflows only if it is given a bundle here, too.
    workflowBundle: bundle,
    shutdownGraceTime: times.graceMs,
  })) as GuardedWorker;
  worker.onEviction(({ runId, evictJob }) => {
    const workflowId = loaded.get(runId);
    loaded.delete(runId);
    if (workflowId && evictJob.reason === EvictionReason.NONDETERMINISM)
      void diverged.reset({ workflowId, runId }, evictJob.message ?? '');
  });
  return bindWorker(worker, cancellations, times);
}

function bindWorker(
  worker: Worker,
  cancellations: HeldCancellations,
  { graceMs, modelGraceMs, forceMs }: GraceTimes,
): RetirableWorker {
  const forced = Promise.withResolvers<never>();
  // Prevents an unhandled rejection if the caller never calls `run`.
  forced.promise.catch(() => {});
  const over = new AbortController();
  let retired = false;
  let ending = false;
  const stop = () => {
    if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  const force = async () => {
    const pause = (milliseconds: number) => wait(milliseconds, undefined, { signal: over.signal });
    // A retired worker's grace period starts now. Otherwise the SDK itself starts to cancel at the end of it.
    if (!retired) cancellations.releaseShort();
    await pause(graceMs);
    cancellations.releaseShort();
    await pause(Math.max(0, modelGraceMs - graceMs));
    cancellations.releaseAll();
    await pause(forceMs);
    forced.reject(
      new GracefulShutdownPeriodExpiredError('Activities did not end in time: they were abandoned'),
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
