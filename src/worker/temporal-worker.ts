/**
 * The two Temporal workers of one process: threads and their tools on the task queue, code that models wrote on the
 * queue beside it (architecture: the sandbox). They begin, shut down and end as one.
 */
import { hostname } from 'node:os';
import { type NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import type { Activities } from '../activities/index.ts';
import type { Configuration } from '../configuration.ts';
import { sandboxQueue } from '../core/step.ts';
import { loadWorkflowBundle } from '../workflow-bundle.ts';

export interface TemporalWorker {
  /** Resolves when both have ended; rejects with the first failure, then too. */
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
  /** A built workflow bundle; made from the sources when absent. */
  readonly workflowBundle?: string;
}

/** Calls beyond the sandbox's places: they wait here, where tenants take turns, and not for a poll that endless programs hold. */
const WAITING_CODE_CALLS = 64;
/** A cancellation reaches an activity with a heartbeat: this bounds how long a stop takes. */
const LONGEST_HEARTBEAT_INTERVAL_MS = 800;
/** So many may be lost or late, but for one, before a worker is taken for lost. */
const HEARTBEATS_PER_TIMEOUT = 3;

export async function createTemporalWorker(input: TemporalWorkerInput): Promise<TemporalWorker> {
  const { configuration, taskQueue, activities } = input;
  const shared = sharedOptions(input);
  const { runCode, ...others } = activities;
  const workflowBundle = await loadWorkflowBundle(input.workflowBundle);
  const threads = await Worker.create({
    ...shared,
    taskQueue,
    workflowBundle,
    activities: others,
    stickyQueueScheduleToStartTimeout: configuration.stickyTimeoutMs,
    maxConcurrentActivityTaskExecutions: configuration.maxConcurrentActivities,
    maxCachedWorkflows: 2000,
    showStackTraceSources: true,
  });
  try {
    const code = await Worker.create({
      ...shared,
      taskQueue: sandboxQueue(taskQueue),
      activities: { runCode },
      maxConcurrentActivityTaskExecutions: configuration.sandboxSize + WAITING_CODE_CALLS,
    });
    return joinWorkers([threads, code]);
  } catch (error) {
    // A worker that never ran would keep the connection for ever.
    const alone = joinWorkers([threads]);
    const ended = alone.run();
    alone.shutdown();
    await ended;
    throw error;
  }
}

/**
 * Between two heartbeats of an activity. The SDK alone would wait four fifths of the timeout: with one of a second, a server
 * or a machine that is late by 200 ms would make a living worker a lost one, and its tool's outcome unknown.
 */
export function heartbeatIntervalMs({
  modelHeartbeatMs,
  toolHeartbeatMs,
}: Pick<Configuration, 'modelHeartbeatMs' | 'toolHeartbeatMs'>): number {
  return Math.min(
    LONGEST_HEARTBEAT_INTERVAL_MS,
    Math.floor(Math.min(modelHeartbeatMs, toolHeartbeatMs) / HEARTBEATS_PER_TIMEOUT),
  );
}

function sharedOptions({ connection, namespace, storeId, configuration }: TemporalWorkerInput) {
  return {
    connection,
    namespace,
    identity: `everthread:${storeId}:${process.pid}@${hostname()}`,
    maxHeartbeatThrottleInterval: heartbeatIntervalMs(configuration),
    defaultHeartbeatThrottleInterval: LONGEST_HEARTBEAT_INTERVAL_MS,
    shutdownGraceTime: configuration.toolGraceMs,
    shutdownForceTime: configuration.toolGraceMs + 5000,
  } satisfies Partial<WorkerOptions>;
}

function joinWorkers(workers: readonly Worker[]): TemporalWorker {
  const shutdown = () => {
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  return {
    shutdown,
    async run() {
      // One that ends takes the other along: half a worker would hold calls that it cannot run.
      const ends = workers.map((worker) => worker.run().finally(shutdown));
      const failed = (await Promise.allSettled(ends)).find(({ status }) => status === 'rejected');
      if (failed) throw (failed as PromiseRejectedResult).reason;
    },
  };
}
