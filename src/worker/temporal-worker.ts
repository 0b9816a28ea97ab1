/**
 * The Temporal workers of one process: one serves threads, their models and their tools on the task queue, one short
 * commits, and one code written by models (docs/sandbox.md), on queues beside it, each with slots of its own. They
 * start, shut down and end together; the first is rebuilt when its workflow context is lost.
 */
import { hostname } from 'node:os';
import { type NativeConnection, Runtime, Worker, type WorkerOptions } from '@temporalio/worker';
import { NativeWorker } from '@temporalio/worker/lib/worker.js';
import type { Configuration } from '../configuration.ts';
import {
  ACTIVITIES,
  type Activities,
  type ActivityName,
  type SideQueue,
  sideQueue,
} from '../core/thread/activities.ts';
import { loadWorkflowBundle } from '../workflow-bundle.ts';
import { versioningOptions } from './deployment.ts';
import { DivergedRuns } from './diverged-runs.ts';
import { PromptCancellations } from './prompt-cancellations.ts';
import { createRebuildingWorker } from './rebuilding-worker.ts';
import { createRetirableWorker } from './retirable-worker.ts';

export interface TemporalWorker {
  /** Settles when all workers have ended: rejects with the first failure, if any. */
  run(): Promise<void>;
  /** Safe to call twice. */
  shutdown(): void;
}

export interface TemporalWorkerInput {
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly storeId: string;
  readonly configuration: Configuration;
  readonly activities: Activities;
  /** A built workflow bundle; bundled from the sources when absent. */
  readonly workflowBundle?: string;
}

/**
 * Calls accepted beyond the sandbox's capacity. They wait in this process, where families take turns, instead of in the
 * task queue behind programs that do not end.
 */
const WAITING_CODE_CALLS = 64;
/** Short commits that run at once; some wait for hooks. */
const COMMIT_SLOTS = 100;
/** Activities pace their heartbeats themselves (activities/base/guard.ts), so the SDK must send each one. */
const HEARTBEAT_THROTTLE_MS = 100;
/** Activities that have not ended this long after their grace period are abandoned. */
const FORCE_AFTER_GRACE_MS = 5000;

export async function createTemporalWorker(input: TemporalWorkerInput): Promise<TemporalWorker> {
  const prompt = new PromptCancellations(input.connection, input.namespace);
  const { sandboxSize } = input.configuration;
  const workers: TemporalWorker[] = [];
  try {
    workers.push(await createThreadsWorker(input, prompt));
    workers.push(await createSideWorker(input, prompt, { queue: 'commits', slots: COMMIT_SLOTS }));
    const code = { queue: 'sandbox', slots: sandboxSize + WAITING_CODE_CALLS } as const;
    workers.push(await createSideWorker(input, prompt, code));
    return joinWorkers(workers);
  } catch (error) {
    // A worker that never ran would keep the connection open.
    const begun = joinWorkers(workers);
    const ended = begun.run();
    begun.shutdown();
    await ended;
    throw error;
  }
}

/** Those of one queue; absent for that of the workflows. */
function activitiesOn(activities: Activities, queue?: SideQueue): Partial<Activities> {
  const names = Object.keys(activities) as ActivityName[];
  const chosen = names.filter((name) => ACTIVITIES[name].queue === queue);
  return Object.fromEntries(chosen.map((name) => [name, activities[name]]));
}

async function createThreadsWorker(
  input: TemporalWorkerInput,
  prompt: PromptCancellations,
): Promise<TemporalWorker> {
  const { configuration, taskQueue } = input;
  const workflowBundle = await loadWorkflowBundle(input.workflowBundle);
  // The SDK accepts the script timeout without declaring it.
  const options: WorkerOptions & { readonly isolateExecutionTimeout: number } = {
    ...sharedOptions(input),
    taskQueue,
    activities: activitiesOn(input.activities),
    stickyQueueScheduleToStartTimeout: configuration.stickyTimeoutMs,
    maxConcurrentActivityTaskExecutions: configuration.maxConcurrentActivities,
    // A thread that has just had a slot would take it again before those that wait for one.
    maxEagerActivityReservationsPerWorkflowTask: 0,
    maxCachedWorkflows: configuration.cachedThreads,
    showStackTraceSources: true,
    isolateExecutionTimeout: configuration.scriptTimeoutMs,
  };
  const { toolGraceMs: graceMs, modelGraceMs } = configuration;
  const warn = (message: string, fields: Readonly<Record<string, unknown>>) =>
    Runtime.instance().logger.warn(message, { taskQueue, ...fields });
  const diverged = new DivergedRuns({ connection: input.connection, namespace: input.namespace, warn });
  const times = { graceMs, modelGraceMs, forceMs: FORCE_AFTER_GRACE_MS };
  return createRebuildingWorker({
    create: (watch) => createRetirableWorker(options, workflowBundle, times, watch, prompt, diverged),
    warn,
  });
}

async function createSideWorker(
  input: TemporalWorkerInput,
  prompt: PromptCancellations,
  { queue, slots }: { readonly queue: SideQueue; readonly slots: number },
): Promise<TemporalWorker> {
  const { configuration, taskQueue, activities } = input;
  const worker = await activitiesWorker(prompt).create({
    ...sharedOptions(input),
    taskQueue: sideQueue(taskQueue, queue),
    activities: activitiesOn(activities, queue),
    maxConcurrentActivityTaskExecutions: slots,
    shutdownGraceTime: configuration.toolGraceMs,
    shutdownForceTime: configuration.toolGraceMs + FORCE_AFTER_GRACE_MS,
  });
  return {
    run: () => worker.run(),
    shutdown() {
      if (worker.getState() === 'RUNNING') worker.shutdown();
    },
  };
}

/** A worker class without workflows; suppresses the warning that the SDK would log about that at each start. */
function activitiesWorker(prompt: PromptCancellations): typeof Worker {
  return class ActivitiesWorker extends Worker {
    protected static override nativeWorkerCtor = {
      createReplay: NativeWorker.createReplay,
      create: (...given: Parameters<typeof NativeWorker.create>) => prompt.createNative(...given),
    };

    protected override workflow$() {
      const silent = Object.create(this.logger, { warn: { value() {} } });
      return super.workflow$.call(Object.create(this, { logger: { value: silent } }) as this);
    }
  };
}

function sharedOptions({ connection, namespace, storeId, configuration }: TemporalWorkerInput) {
  return {
    ...versioningOptions(configuration),
    connection,
    namespace,
    identity: `everthread:${storeId}:${process.pid}@${hostname()}`,
    maxHeartbeatThrottleInterval: HEARTBEAT_THROTTLE_MS,
    defaultHeartbeatThrottleInterval: HEARTBEAT_THROTTLE_MS,
  } satisfies Partial<WorkerOptions>;
}

function joinWorkers(workers: readonly TemporalWorker[]): TemporalWorker {
  const shutdown = () => {
    for (const worker of workers) worker.shutdown();
  };
  return {
    shutdown,
    async run() {
      // If one ends, the others are shut down too: a worker without one of them would accept calls that it cannot
      // complete.
      const ends = workers.map((worker) => worker.run().finally(shutdown));
      const failed = (await Promise.allSettled(ends)).find(({ status }) => status === 'rejected');
      if (failed) throw (failed as PromiseRejectedResult).reason;
    },
  };
}
