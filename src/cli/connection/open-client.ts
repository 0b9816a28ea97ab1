/** A client for commands that act on threads: server by find-server.ts, store by find-store.ts. */
import { RuntimeClient } from '../../client/runtime-client.ts';
import { toRuntimeError } from '../../client/workflow-error.ts';
import { readConfiguration } from '../../configuration.ts';
import { isRuntimeError } from '../../core/value/error.ts';
import type { ThreadStore } from '../../store/store.ts';
import { type FoundServer, findServer, requireListening, requireOwn } from './find-server.ts';
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
    const client = await connectClient({ project, taskQueue, store, server: await requireServer(project) });
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

/** Throws `TemporalUnavailable` unless the project's server listens, and belongs to no other project. */
export async function requireServer(project: string, server = findServer(project)): Promise<FoundServer> {
  await requireListening(server);
  await requireOwn(server);
  return server;
}

interface ConnectClient extends Pick<OpenClient, 'project' | 'taskQueue'> {
  readonly server: FoundServer;
  readonly store: string | ThreadStore;
}

/** Throws `TemporalUnavailable`, also for a namespace that does not exist. A client that may not ask is let through. */
export async function connectClient({ project, server, ...given }: ConnectClient): Promise<RuntimeClient> {
  const { address, namespace } = server;
  const client = await RuntimeClient.connect({ ...given, address, namespace, projectDir: project });
  try {
    await client.temporal.workflowService.describeNamespace({ namespace });
  } catch (error) {
    const refused = toRuntimeError(error);
    if (isRuntimeError(refused, 'TemporalUnavailable')) {
      await client.close();
      throw refused;
    }
  }
  return client;
}
