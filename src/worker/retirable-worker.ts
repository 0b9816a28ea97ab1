/**
 * A Temporal worker for threads that can be given up while its activities go on. The SDK knows one way to stop, which
 * cancels activities when the grace period is over: that cancellation is held back here until the process itself is to end.
 * Relies on what the SDK leaves open to subclasses (its version is pinned): how workflow threads and the native worker are made.
 */
import { setTimeout as wait } from 'node:timers/promises';
import proto from '@temporalio/proto';
import {
  GracefulShutdownPeriodExpiredError,
  type Logger,
  type NativeConnection,
  type Runtime,
  Worker,
  type WorkerOptions,
} from '@temporalio/worker';
import { NativeWorker } from '@temporalio/worker/lib/worker.js';
import type { CompiledWorkerOptions } from '@temporalio/worker/lib/worker-options.js';
import type { ThreadedVMWorkflowCreatorOptions } from '@temporalio/worker/lib/workflow/threaded-vm.js';
import { type ContextWatch, startGuardedThreads } from './guarded-threads.ts';

export interface RetirableWorker {
  /** Resolves when nothing of it is left; rejects when it failed, or had to be ended by force. */
  run(): Promise<void>;
  /** It takes nothing new; its activities go on to their own end. */
  retire(): void;
  /** It takes nothing new; its activities have the grace period, and are then cancelled. Safe to call twice. */
  end(): void;
}

export interface GraceTimes {
  readonly graceMs: number;
  /** After that much more the rest is left as it is. */
  readonly forceMs: number;
}

type NativeOptions = Parameters<typeof NativeWorker.create>[2];
type WorkflowCode = ThreadedVMWorkflowCreatorOptions['workflowBundle'];
type PollActivity = NativeWorker['pollActivityTask'];

export async function createRetirableWorker(
  options: WorkerOptions,
  { graceMs, forceMs }: GraceTimes,
  watch: ContextWatch,
): Promise<RetirableWorker> {
  const cancellations = new HeldCancellations();
  // One class for each worker: the SDK makes both parts in static methods, which know nothing else of whom they serve.
  class GuardedWorker extends Worker {
    protected static override nativeWorkerCtor = {
      createReplay: NativeWorker.createReplay,
      async create(runtime: Runtime, connection: NativeConnection, native: NativeOptions) {
        const worker = await NativeWorker.create(runtime, connection, native);
        return Object.assign(worker, { pollActivityTask: cancellations.behind(worker.pollActivityTask) });
      },
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
  // Whoever does not run it does not hear of it.
  forced.promise.catch(() => {});
  const over = new AbortController();
  let retired = false;
  let ending = false;
  const stop = () => {
    if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  const force = async () => {
    // One that has retired counts its grace period from now.
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

// Its names are not seen by Node's import.
const { ActivityCancelReason, ActivityTask } = proto.coresdk.activity_task;

/** Between the native worker and the SDK: cancellations for the worker's end wait until it is meant. */
class HeldCancellations {
  #held: Buffer[] = [];
  #released = false;
  readonly #release = Promise.withResolvers<void>();

  release(): void {
    this.#released = true;
    this.#release.resolve();
  }

  behind(poll: PollActivity): PollActivity {
    let polled: Promise<Buffer> | undefined;
    return async () => {
      for (;;) {
        const ready = this.#released ? this.#held.shift() : undefined;
        if (ready) return ready;
        polled ??= poll();
        const next = await (this.#released ? polled : Promise.race([polled, this.#release.promise]));
        if (next === undefined) continue;
        polled = undefined;
        if (this.#released || !isShutdownCancellation(next)) return next;
        this.#held.push(next);
      }
    };
  }
}

function isShutdownCancellation(task: Buffer): boolean {
  const { cancel } = ActivityTask.decode(new Uint8Array(task));
  return cancel?.reason === ActivityCancelReason.WORKER_SHUTDOWN;
}
