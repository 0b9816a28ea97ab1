/** A worker and a client in one process, on one store: what the faces work with. */
import { RuntimeClient } from '../client/runtime-client.ts';
import type { Registry } from '../core/author/definition.ts';
import type { ThreadStore } from '../store/port/thread-store.ts';
import { createWorker, type WorkerOptions } from './index.ts';

export interface EngineOptions {
  /** A store's address as in `EVERTHREAD_STORE`, or an open store, which the caller closes. */
  readonly store?: string | ThreadStore;
  /** Made of the name unless given: another process with the same one goes on where this one has ended. */
  readonly taskQueue?: string;
  /** The base of a relative store path; the working directory when absent. */
  readonly projectDir?: string;
  /** A built workflow bundle; bundled from the sources when absent. */
  readonly workflowBundle?: string;
  /** Another server than that of `TEMPORAL_*`; the caller closes the connection. */
  readonly server?: Required<Pick<WorkerOptions, 'connection' | 'namespace'>> & { readonly address: string };
  /** Of the worker. */
  readonly settings?: Pick<WorkerOptions, 'configuration' | 'signals'>;
}

export interface Engine {
  readonly client: RuntimeClient;
  /** Ends the worker alone, which hands over what it was doing. Safe to call twice. */
  shutdown(): Promise<void>;
  /** Ends both. */
  close(): Promise<void>;
}

/** Throws as `createWorker` and `RuntimeClient.connect` do; nothing is left open then. */
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
