/**
 * The door `everthread/worker`: reads the environment, opens store and sandbox, loads the project, and runs Temporal
 * workers on them. No logic of its own.
 */
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { NativeConnection } from '@temporalio/worker';
import type { FaultPoint } from '../activities/dependencies.ts';
import { createActivities } from '../activities/index.ts';
import { ensureSearchAttributes } from '../cli/local-server/search-attributes.ts';
import { type Configuration, readConfiguration } from '../configuration.ts';
import type { Registry } from '../core/definition.ts';
import { RuntimeError } from '../core/error.ts';
import { chooseWall, createSandbox, isDemanding } from '../sandbox/index.ts';
import { openStore } from '../store/open-store.ts';
import type { ThreadStore } from '../store/port.ts';
import { type OpenGuard, openGuard, reportFault } from './fault-log.ts';
import { refuseForeignPollers } from './identity.ts';
import { openProject, type WorkerProject } from './project.ts';
import { endWithStore } from './store-end.ts';
import { underSupervision, type WorkerSupervision } from './supervision.ts';
import { createTemporalWorker, type TemporalWorker } from './temporal-worker.ts';

export { hideSecrets } from '../secret-environment.ts';

export interface WorkerOptions {
  /** The folder that holds `agents/`. */
  readonly projectDir: string;
  /** Made from `TEMPORAL_*` when absent. */
  readonly connection?: NativeConnection;
  readonly namespace?: string;
  readonly taskQueue?: string;
  /** A store's address, as in `EVERTHREAD_STORE`, or an open store, which the caller closes. */
  readonly store?: string | ThreadStore;
  /** Definitions made in code, instead of those under `agents/`. */
  readonly registry?: Registry | (() => Registry);
  readonly configuration?: Partial<Configuration>;
  /** A built workflow bundle; made from the sources when absent. */
  readonly workflowBundle?: string;
  /** Warnings for people: a missing search attribute, a questionable definition. */
  readonly onWarning?: (warning: string) => void;
  /** Of a process that somebody watches and starts again; ours alone. */
  readonly supervision?: WorkerSupervision;
  /** For fault tests alone. */
  readonly probe?: (point: FaultPoint) => void | Promise<void>;
}

export interface ThreadWorker {
  readonly storeId: string;
  readonly taskQueue: string;
  readonly namespace: string;
  /**
   * Works until `shutdown`, SIGTERM or SIGINT; resolves when everything is handed over and closed. Rejects with `StoreLost` or
   * `StoreCorrupt` when the store came to its end before.
   */
  run(): Promise<void>;
  /** Model calls go to another worker at once, tools get their grace period. Safe to call twice. */
  shutdown(): void;
  /** Reads the project again; keeps the old one and throws `InvalidDefinitions` when the new one has problems. */
  reload(): Promise<void>;
}

/**
 * Throws `InvalidDefinitions` with every problem of the project, `StoreMismatch` when workers of another store
 * serve the same queue, `InvalidConfiguration`, or `TemporalUnavailable`.
 */
export async function createWorker(options: WorkerOptions): Promise<ThreadWorker> {
  // Before the first line of the project's: it keeps what it finds of `process`.
  const guard = openGuard();
  try {
    return await openWorker(options, guard);
  } catch (error) {
    guard.end();
    throw error;
  }
}

async function openWorker(options: WorkerOptions, guard: OpenGuard): Promise<ThreadWorker> {
  const configuration = { ...readConfiguration(), ...options.configuration };
  const taskQueue = options.taskQueue ?? configuration.taskQueue;
  const project = await openProject(options);
  const { connection, namespace, ownsConnection } = await connect(options);
  const store =
    typeof options.store === 'object'
      ? options.store
      : await openStore(options.store ?? configuration.store, options.projectDir, {
          keys: configuration.encryptionKeys,
        });
  guard.know({ store, registry: project.current });
  const sandbox = createSandbox({ size: configuration.sandboxSize, wall: configuration.sandboxWall });
  const handover = new AbortController();
  const release = async () => {
    // Last of all that works, and before what it might still be asked to tell.
    await sandbox.close();
    if (typeof options.store !== 'object') await store.close();
    if (ownsConnection) await connection.close();
    guard.end();
  };
  try {
    if (isDemanding(configuration.sandboxWall)) await chooseWall(configuration.sandboxWall);
    await refuseForeignPollers(connection, { namespace, taskQueue, storeId: store.id });
    const { missing } = await ensureSearchAttributes(connection as never, namespace);
    if (missing.length > 0) {
      options.onWarning?.(
        `The server lacks the search attributes ${missing.join(', ')}: threads run, but cannot be filtered by them. ` +
          'Register them as temporal/README.md says.',
      );
    }
    const { historySoftLimit, modelHeartbeatMs, toolHeartbeatMs } = configuration;
    const searchAttributes = missing.length === 0;
    const settings = { historySoftLimit, modelHeartbeatMs, toolHeartbeatMs, searchAttributes };
    const activities = createActivities({
      store,
      sandbox,
      registry: project.current,
      settings,
      handover: handover.signal,
      ...(await underSupervision(options.supervision, { store, settings, handover: handover.signal })),
      probe: options.probe,
      report: reportFault,
    });
    const worker = await createTemporalWorker({
      connection,
      namespace,
      taskQueue,
      storeId: store.id,
      configuration,
      activities,
      workflowBundle: options.workflowBundle,
    });
    return bindWorker({ worker, store, storeId: store.id, namespace, taskQueue, handover, project, release });
  } catch (error) {
    await release();
    throw error;
  }
}

interface Parts {
  readonly worker: TemporalWorker;
  readonly store: ThreadStore;
  readonly storeId: string;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly handover: AbortController;
  readonly project: WorkerProject;
  readonly release: () => Promise<void>;
}

function bindWorker({ worker, store, handover, project, release, ...place }: Parts): ThreadWorker {
  const shutdown = () => {
    worker.shutdown();
    handover.abort();
  };
  return {
    ...place,
    shutdown,
    reload: project.reload,
    async run() {
      process.on('SIGTERM', shutdown);
      process.on('SIGINT', shutdown);
      const throwIfLost = endWithStore(store, shutdown);
      try {
        await worker.run();
        throwIfLost();
      } finally {
        process.off('SIGTERM', shutdown);
        process.off('SIGINT', shutdown);
        await release();
      }
    },
  };
}

async function connect(options: WorkerOptions) {
  const { connectionOptions, namespace } = loadClientConnectConfig();
  const name = options.namespace ?? namespace ?? 'default';
  if (options.connection) return { connection: options.connection, namespace: name, ownsConnection: false };
  const { address = '127.0.0.1:7233' } = connectionOptions;
  try {
    const connection = await NativeConnection.connect({ ...connectionOptions, address } as never);
    return { connection, namespace: name, ownsConnection: true };
  } catch (cause) {
    throw new RuntimeError(
      'TemporalUnavailable',
      `No Temporal server answers at ${address}. Start one with "everthread dev", or set TEMPORAL_ADDRESS.`,
      { cause },
    );
  }
}
