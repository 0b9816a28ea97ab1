/** Opens the resources of a client: a connection to Temporal and a store. */
import type { Client } from '@temporalio/client';
import { readConfiguration } from '../configuration.ts';
import { openStore } from '../store/open-store.ts';
import type { ThreadStore } from '../store/store.ts';
import { refuseForeignWorkers } from './foreign-workers.ts';
import { isRequestRefused, toRuntimeError } from './workflow-error.ts';

export interface ConnectOptions {
  /** `host:port`; else `TEMPORAL_ADDRESS`, the profile, or 127.0.0.1:7233. */
  readonly address?: string;
  readonly namespace?: string;
  readonly taskQueue?: string;
  /** A store's address as in `EVERTHREAD_STORE`, or an open store, which the caller closes. */
  readonly store?: string | ThreadStore;
  /** The base of a relative store path; the working directory when absent. */
  readonly projectDir?: string;
}

export interface OpenConnection {
  readonly temporal: Client;
  readonly store: ThreadStore;
  readonly taskQueue: string;
  /**
   * To be awaited before something is stored for a worker to take. Throws `StoreMismatch` if the workers of the queue
   * have another store. The server is asked at most once a minute.
   */
  refuseForeignWorkers(): Promise<void>;
  close(): Promise<void>;
}

const WORKERS_KNOWN_MS = 60_000;

/** Throws `TemporalUnavailable` when no server responds, `InvalidConfiguration` for an invalid store or another option that cannot be used. */
export async function openConnection(options: ConnectOptions): Promise<OpenConnection> {
  const configuration = readConfiguration();
  // Loaded on demand: authors import the package for its definitions, and would otherwise load mostly this client.
  const [{ Client, Connection }, { readTemporalSettings }, { explainUnreachable }] = await Promise.all([
    import('@temporalio/client'),
    import('../temporal-settings.ts'),
    import('../temporal-unreachable.ts'),
  ]);
  const { connectionOptions, namespace = 'default' } = readTemporalSettings(options);
  const { address = '127.0.0.1:7233' } = connectionOptions;
  const connection = await Connection.connect({
    ...connectionOptions,
    address,
    connectTimeout: '5 s',
    // A page of a history with large signals exceeds gRPC's default of 4 MiB, and could not be exported.
    channelArgs: { 'grpc.max_receive_message_length': 128 * 1024 * 1024 },
  }).catch(async (cause) => {
    throw await explainUnreachable({ ...connectionOptions, address }, cause);
  });
  const { store: place = configuration.store, projectDir = process.cwd() } = options;
  const store =
    typeof place === 'object'
      ? place
      : await openStore(place, projectDir, {
          keys: configuration.encryptionKeys,
          familyCalls: configuration.familyCalls,
        });
  const temporal = new Client({ connection, namespace });
  const taskQueue = options.taskQueue ?? configuration.taskQueue;
  const queue = { namespace: temporal.options.namespace, taskQueue, storeId: store.id };
  let askedAt = Number.NEGATIVE_INFINITY;
  return {
    temporal,
    store,
    taskQueue,
    async refuseForeignWorkers() {
      if (performance.now() - askedAt < WORKERS_KNOWN_MS) return;
      await refuseForeignWorkers(connection.workflowService, queue, 'client').catch((error) => {
        // A client that may not ask who polls the queue may send all the same.
        if (!isRequestRefused(error)) throw toRuntimeError(error);
      });
      askedAt = performance.now();
    },
    async close() {
      await connection.close();
      if (typeof place !== 'object') await store.close();
    },
  };
}
