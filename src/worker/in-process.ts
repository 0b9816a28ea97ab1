/** A worker and a client in one process, on one store: what the faces work with. */
import { RuntimeClient } from '../client/runtime-client.ts';
import type { Registry } from '../core/author/definition.ts';
import type { ThreadStore } from '../store/port/thread-store.ts';
import { createWorker } from './index.ts';

export interface EngineOptions {
  /** A store's address as in `EVERTHREAD_STORE`, or an open store, which the caller closes. */
  readonly store?: string | ThreadStore;
  /** Made of the name unless given: another process with the same one goes on where this one has ended. */
  readonly taskQueue?: string;
  /** The base of a relative store path; the working directory when absent. */
  readonly projectDir?: string;
  /** A built workflow bundle; bundled from the sources when absent. */
  readonly workflowBundle?: string;
}

export interface Engine {
  readonly client: RuntimeClient;
  /** What the worker was doing is handed over. */
  close(): Promise<void>;
}

/** The server is that of `TEMPORAL_*`. Throws as `createWorker` and `RuntimeClient.connect` do. */
export async function openInProcess(
  registry: Registry,
  { store, taskQueue, projectDir = process.cwd(), workflowBundle }: EngineOptions,
): Promise<Engine> {
  const shared = {
    projectDir,
    ...(store === undefined ? {} : { store }),
    ...(taskQueue === undefined ? {} : { taskQueue }),
  };
  const worker = await createWorker({ ...shared, registry, ...(workflowBundle ? { workflowBundle } : {}) });
  const running = worker.run();
  const client = await RuntimeClient.connect(shared);
  return {
    client,
    async close() {
      await client.close();
      worker.shutdown();
      await running;
    },
  };
}
