/** A worker and a client in one process, on one store: used by `agenticx`, `protolink`, `tangle` and `testing`. */
import { RuntimeClient } from '../client/runtime-client.ts';
import type { Registry } from '../core/author/registry.ts';
import type { ThreadStore } from '../store/store.ts';
import { createWorker, type WorkerOptions } from './index.ts';

export interface EngineOptions {
  /** A store's address as in `EVERTHREAD_STORE`, or an open store, which the caller closes. */
  readonly store?: string | ThreadStore;
  /** By default derived from the agent's name. A later process with the same queue continues the work of this one. */
  readonly taskQueue?: string;
  /** The base of a relative store path; the working directory when absent. */
  readonly projectDir?: string;
  /** A built workflow bundle; bundled from the sources when absent. */
  readonly workflowBundle?: string;
  /** A server to use instead of that of `TEMPORAL_*`; the caller closes the connection. */
  readonly server?: Required<Pick<WorkerOptions, 'connection' | 'namespace'>> & { readonly address: string };
  /** Options of the worker. */
  readonly settings?: Pick<WorkerOptions, 'configuration' | 'signals'>;
}

export interface Engine {
  readonly client: RuntimeClient;
  /** Ends only the worker, which hands over its running work. Safe to call twice. */
  shutdown(): Promise<void>;
  /** Closes the client and ends the worker. */
  close(): Promise<void>;
}

/** Opens both. Throws what `createWorker` and `RuntimeClient.connect` throw, and leaves nothing open in that case. */
export async function openInProcess(
  registry: Registry,
  { store, taskQueue, projectDir = process.cwd(), workflowBundle, server, settings }: EngineOptions,
): Promise<Engine> {
  const shared = {
    projectDir,
    ...(store === undefined ? {} : { store }),
    ...(taskQueue === undefined ? {} : { taskQueue }),
    ...(server ? { namespace: server.namespace } : {}),
  };
  const worker = await createWorker({
    ...shared,
    ...settings,
    registry,
    ...(server ? { connection: server.connection } : {}),
    ...(workflowBundle ? { workflowBundle } : {}),
  });
  const running = worker.run();
  const shutdown = async () => {
    worker.shutdown();
    await running;
  };
  const place = server ? { ...shared, address: server.address } : shared;
  const client = await RuntimeClient.connect(place).catch(async (error) => {
    await shutdown();
    throw error;
  });
  return {
    client,
    shutdown,
    async close() {
      await client.close();
      await shutdown();
    },
  };
}
