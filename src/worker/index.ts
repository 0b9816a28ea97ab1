/**
 * The entry `everthread/worker`: opens what a worker needs, asks whether it may serve its queue, and runs Temporal workers.
 * No logic of its own. The folder by what its files do:
 *
 *   parts       `options`, `project`, `resources`, `worker-shutdown`: what a worker is made of, and how it ends
 *   workers     `temporal-worker` creates the two Temporal workers of a process; `rebuilding-worker` replaces the one
 *               for threads when its workflow context is lost (`retirable-worker`, `guarded-threads`, `rebuild-pace`);
 *               `diverged-runs` begins a thread's run anew if its history cannot be replayed;
 *               `prompt-cancellations` delivers stops to activities at once, through the `task-buffer` of each worker
 *   in threads  `workflow-thread` with its `context-guard` and `pending-stacks`; `watchdog-thread` with `stall`, started by `watchdog`
 *   figures     `metrics/` counts and measures, `readiness` checks whether the worker can work
 *   telemetry   `telemetry/` gives out the logs of threads as OpenTelemetry's spans
 *   supervised  `under-supervision`, `supervision`: what only a supervised process does
 *   lone        `lone-process` runs a suspect in a separate process, whose work is `lone-run`; `turnstile`
 *               limits how many run at once
 *   logging     `fault-log`: faults of author code; `default-log`: the log of a program that has configured none
 *   embedded    `in-process`: a worker and a client in one process, for the layers that expose the engine under
 *               other names (`agenticx`, `protolink`, `tangle`) and for `testing`
 */

import { Client } from '@temporalio/client';
import { Runtime } from '@temporalio/worker';
import { createActivities } from '../activities/index.ts';
import { refuseForeignWorkers } from '../client/foreign-workers.ts';
import { toRuntimeError } from '../client/workflow-error.ts';
import { createRateLimiter } from '../models/memory-limiter.ts';
import { chooseWall, isDemanding } from '../sandbox/index.ts';
import type { ThreadStore } from '../store/store.ts';
import { ensureSearchAttributes } from '../temporal-service/search-attributes.ts';
import { findUntunedSettings, lacksSearchAttributes } from '../temporal-service/tuning.ts';
import { installDefaultLog } from './default-log.ts';
import { findIdleVersion } from './deployment.ts';
import { type OpenGuard, openGuard } from './fault-log.ts';
import { startMaintenance } from './maintenance.ts';
import type { WorkerOptions } from './options.ts';
import type { WorkerProject } from './project.ts';
import { readReadiness, type WorkerReadiness } from './readiness.ts';
import { openResources, type WorkerResources } from './resources.ts';
import { openSupervision } from './supervision.ts';
import { createTemporalWorker, type TemporalWorker } from './temporal-worker.ts';
import { endWithStore, onStopSignal, openShutdown, type WorkerShutdown } from './worker-shutdown.ts';

export type { Configuration, LogLevel } from '../configuration.ts';
export type { WallSetting } from '../sandbox/index.ts';
export { hideSecrets, type Secrets } from '../secret-environment.ts';
export type { EncryptionKeys } from '../store/crypto/encryption.ts';

export type { WorkerOptions } from './options.ts';

export type { WorkerReadiness } from './readiness.ts';

export interface ThreadWorker {
  readonly storeId: string;
  readonly taskQueue: string;
  readonly namespace: string;
  /**
   * Works until `shutdown`, SIGTERM or SIGINT (unless `signals` is false); resolves when all work is handed over and
   * everything is closed. Rejects with `StoreLost` or `StoreCorrupt` if the store was lost or corrupt before that.
   */
  run(): Promise<void>;
  /**
   * Begins nothing new. Running model calls may finish within `modelGraceMs`, after which another worker takes them
   * over; tools may finish within `toolGraceMs`. Safe to call twice.
   */
  shutdown(): void;
  /**
   * Metrics of this worker in the text format of Prometheus (docs/production.md#metrics). Those of the whole store and
   * of the task queues are queried on each call, but at most every five seconds.
   */
  metrics(): Promise<string>;
  /** Whether store and Temporal server answer within two seconds. `ready` is false from `shutdown` on. Never rejects. */
  readiness(): Promise<WorkerReadiness>;
  /** Reads the project again; keeps the old one and throws `InvalidDefinitions` when the new one has problems. */
  reload(): Promise<void>;
}

/**
 * Creates a worker. Throws `InvalidDefinitions` with every problem of the project, `StoreMismatch` if workers of
 * another store serve the same queue, `InvalidConfiguration`, or `TemporalUnavailable`.
 * @example
 * ```ts
 * const worker = await createWorker({ projectDir: '/srv/my-agents', onWarning: console.warn });
 * await worker.run(); // until SIGTERM, SIGINT or worker.shutdown()
 * ```
 */
export async function createWorker(options: WorkerOptions): Promise<ThreadWorker> {
  installDefaultLog();
  // Before any code of the project runs: that code may keep references to what it finds on `process`.
  const guard = openGuard(() => Runtime.instance().logger);
  try {
    return await openWorker(options, guard);
  } catch (error) {
    guard.end();
    // A missing namespace shows only when the worker is created.
    throw toRuntimeError(error);
  }
}

async function openWorker(options: WorkerOptions, guard: OpenGuard): Promise<ThreadWorker> {
  const resources = await openResources(options, guard);
  try {
    return await startWorker(options, resources, guard);
  } catch (error) {
    await resources.release();
    throw error;
  }
}

async function startWorker(
  options: WorkerOptions,
  resources: WorkerResources,
  { report }: OpenGuard,
): Promise<ThreadWorker> {
  const {
    configuration,
    connection,
    namespace,
    taskQueue,
    store,
    sandbox,
    project,
    release,
    metrics,
    telemetry,
  } = resources;
  const { onStep } = options;
  if (isDemanding(configuration.sandboxWall)) {
    onStep?.('testing the wall of its sandbox');
    await chooseWall(configuration.sandboxWall);
  }
  onStep?.('asking the Temporal server who serves its task queue');
  await refuseForeignWorkers(
    connection.workflowService,
    { namespace, taskQueue, storeId: store.id },
    'worker',
  );
  const limiter = createRateLimiter();
  metrics.limiter(limiter);
  const departure = openShutdown(configuration.modelGraceMs);
  const { leaving, handover } = departure;
  leaving.addEventListener('abort', () => telemetry?.hurry(), { once: true });
  const { historySoftLimit, modelHeartbeatMs, toolHeartbeatMs, stopWithinMs } = configuration;
  const { stepsPerActivity, secondsPerActivity } = configuration;
  onStep?.('asking the Temporal server for its search attributes');
  const searchAttributes = await hasSearchAttributes(resources, options.onWarning);
  const settings = {
    historySoftLimit,
    modelHeartbeatMs,
    toolHeartbeatMs,
    stepsPerActivity,
    secondsPerActivity,
    searchAttributes,
  };
  const idle = await findIdleVersion(connection, namespace, configuration.deployment);
  if (idle) options.onWarning?.(idle);
  const place = { store, settings, handover };
  onStep?.('reading from its store');
  const activities = createActivities({
    ...place,
    leaving,
    stopWithinMs,
    refusesContent: configuration.signalledContent === 'refuse',
    sandbox,
    limiter,
    slots: configuration.maxConcurrentActivities,
    registry: project.current,
    ...(await openSupervision(options.supervision, place)),
    inSpan: telemetry?.inSpan,
    probe: options.probe,
    report,
  });
  const { workflowBundle } = options;
  const storeId = store.id;
  onStep?.('loading the code of its workflows');
  const parts = { connection, namespace, taskQueue, storeId, configuration, activities, workflowBundle };
  const worker = await createTemporalWorker(parts);
  // Before the worker takes work: lost actions are reported before any of them can begin again.
  await store.actions.closeLost().catch(() => undefined);
  const client = new Client({ connection, namespace });
  startMaintenance({ store, client, taskQueue, registry: project.current, telemetry }, leaving);
  const { signals = true } = options;
  return bindWorker({
    worker,
    store,
    storeId,
    namespace,
    taskQueue,
    departure,
    project,
    release,
    signals,
    metrics: metrics.read,
    readiness: () => readReadiness({ store, connection, leaving }),
  });
}

async function hasSearchAttributes(
  { connection, namespace }: WorkerResources,
  onWarning: WorkerOptions['onWarning'],
): Promise<boolean> {
  const { missing } = await ensureSearchAttributes(connection, namespace);
  const lacking = lacksSearchAttributes(missing);
  // A server that does not report its settings is no reason not to work.
  const untuned = await findUntunedSettings(connection, namespace).catch(() => []);
  for (const { name, found, next } of [...(lacking ? [lacking] : []), ...untuned])
    onWarning?.(`${name}: ${found}. ${next}`);
  return lacking === undefined;
}

interface Parts {
  readonly worker: TemporalWorker;
  readonly store: ThreadStore;
  readonly storeId: string;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly departure: WorkerShutdown;
  readonly project: WorkerProject;
  readonly release: () => Promise<void>;
  readonly signals: boolean;
  readonly metrics: ThreadWorker['metrics'];
  readonly readiness: ThreadWorker['readiness'];
}

function bindWorker({ worker, store, departure, project, release, signals, ...place }: Parts): ThreadWorker {
  const shutdown = () => {
    worker.shutdown();
    departure.begin();
  };
  return {
    ...place,
    shutdown,
    reload: project.reload,
    async run() {
      const ignoreSignals = signals ? onStopSignal(shutdown) : undefined;
      const throwIfLost = endWithStore(store, () => {
        // No answer of a model can be stored any more.
        departure.hurry();
        shutdown();
      });
      try {
        await worker.run();
        throwIfLost();
      } finally {
        ignoreSignals?.();
        departure.end();
        await release();
      }
    },
  };
}
