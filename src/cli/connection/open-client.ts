/** A client for commands that act on threads: server by find-server.ts, store by find-store.ts. */
import { RuntimeClient } from '../../client/runtime-client.ts';
import { readConfiguration } from '../../configuration.ts';
import type { ThreadStore } from '../../store/store.ts';
import { findServer, requireListening, requireOwn } from './find-server.ts';
import { requireProject, withStore } from './find-store.ts';

export interface OpenClient {
  readonly project: string;
  readonly taskQueue?: string;
  /** True if the command may be the first one in its project. */
  readonly createStore?: boolean;
}

/** Opens a client and always closes it. Throws `TemporalUnavailable`, and `ThreadNotFound` if there is no store. */
export async function withClient<T>(
  options: OpenClient,
  work: (client: RuntimeClient) => Promise<T>,
): Promise<T> {
  const { project, taskQueue, createStore = false } = options;
  const connect = async (store: string | ThreadStore) => {
    const server = findServer(project);
    await requireListening(server);
    await requireOwn(server);
    const { address, namespace } = server;
    const client = await RuntimeClient.connect({ address, namespace, taskQueue, store, projectDir: project });
    try {
      return await work(client);
    } finally {
      await client.close();
    }
  };
  if (!createStore) return withStore(project, connect);
  requireProject(project);
  return connect(readConfiguration().store);
}
