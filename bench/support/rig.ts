/**
 * One server, one store in its own file, one Everthread worker and one bare worker in this process, and functions that
 * run turns on either. Threads and bare workflows share everything but the code that is compared.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { RuntimeClient } from '../../src/client/runtime-client.ts';
import { type Configuration, readConfiguration } from '../../src/configuration.ts';
import type { Registry } from '../../src/core/author/registry.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { ThreadStore } from '../../src/store/store.ts';
import { findTemporalBinary } from '../../src/temporal-service/find-binary.ts';
import { type LocalServer, startLocalServer } from '../../src/temporal-service/start-server.ts';
import { createWorker } from '../../src/worker/index.ts';
import { bareActivities } from '../bare/activity.ts';
import { benchRegistry, type Watchers } from './project.ts';

const silent = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };

/** `memory`: without a file, as the tests start it. `file`: with a database, as `everthread dev` starts it. */
export type ServerKind = 'memory' | 'file';

export interface Rig {
  readonly client: RuntimeClient;
  readonly store: ThreadStore;
  /** Holds the store's file, `store.db`, unless another store was requested. */
  readonly folder: string;
  /** Starts a thread and runs a turn of so many steps; resolves with its id when the last answer is given. */
  turn(agent: string, steps: number): Promise<string>;
  /** Runs a turn of so many steps in an existing thread. */
  nextTurn(threadId: string, steps: number): Promise<void>;
  /** Runs a bare workflow of so many steps; resolves with its workflow id. */
  bare(workflow: 'bare' | 'bareQuick', steps: number): Promise<string>;
  close(): Promise<void>;
}

export async function openRig(
  kind: ServerKind,
  configuration?: Partial<Configuration>,
  project: (watchers: Watchers) => Registry = benchRegistry,
  address = 'sqlite:store.db',
  /** Receives the store before its worker does. */
  prepare: (store: ThreadStore) => void = () => undefined,
): Promise<Rig> {
  forgetSettings();
  const folder = mkdtempSync(join(tmpdir(), 'everthread-bench-'));
  const store = await openStore(address, folder);
  prepare(store);
  const server = await startServer(kind, folder);
  const connection = await NativeConnection.connect({ address: server.address });
  const watchers: Watchers = new Map();
  const workers = [
    await createWorker({
      projectDir: folder,
      registry: project(watchers),
      store,
      connection,
      taskQueue: 'bench',
      ...(configuration && { configuration }),
    }),
    await createBareWorker(connection),
  ];
  const running = workers.map((worker) => worker.run());
  const client = await RuntimeClient.connect({ address: server.address, store, taskQueue: 'bench' });
  return {
    client,
    store,
    folder,
    ...runner(client, watchers),
    async close() {
      await client.close();
      for (const worker of workers) worker.shutdown();
      await Promise.all(running);
      await connection.close();
      await store.close();
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Removes the user's own settings, which must not affect the figures. */
export function forgetSettings(): void {
  for (const name of Object.keys(process.env)) {
    if (/^(TEMPORAL_|EVERTHREAD_(?!TEMPORAL_CLI))/.test(name)) delete process.env[name];
  }
}

export async function startServer(
  kind: ServerKind,
  folder: string,
  metricsPort?: number,
): Promise<LocalServer> {
  const { path } = await findTemporalBinary({ progress: (line) => console.error(line) });
  const dbFile = kind === 'file' ? join(folder, 'temporal.db') : undefined;
  return startLocalServer({
    binary: path,
    headless: true,
    log: join(folder, 'temporal.log'),
    dbFile,
    metricsPort,
  });
}

/** Uses the worker options of src/worker/index.ts. */
async function createBareWorker(connection: NativeConnection): Promise<Worker> {
  const configuration = readConfiguration();
  return Worker.create({
    connection,
    taskQueue: 'bare',
    workflowBundle: await bundleWorkflowCode({
      workflowsPath: fileURLToPath(new URL('../bare/workflow.ts', import.meta.url)),
      logger: silent,
    }),
    activities: bareActivities,
    stickyQueueScheduleToStartTimeout: configuration.stickyTimeoutMs,
    maxHeartbeatThrottleInterval: 800,
    defaultHeartbeatThrottleInterval: 800,
    maxConcurrentActivityTaskExecutions: configuration.maxConcurrentActivities,
    maxCachedWorkflows: configuration.cachedThreads,
    showStackTraceSources: true,
  });
}

function runner(client: RuntimeClient, watchers: Watchers): Pick<Rig, 'turn' | 'nextTurn' | 'bare'> {
  // Waits by promise: a polling client would take time from what is measured.
  const answered = (threadId: string) => new Promise<void>((resolve) => watchers.set(threadId, resolve));
  return {
    async turn(agent, steps) {
      const threadId = randomUUID();
      const done = answered(threadId);
      await client.startThread({ agent, threadId, messages: [{ content: `go ${steps}` }] });
      await done;
      return threadId;
    },
    async nextTurn(threadId, steps) {
      const done = answered(threadId);
      await client.queueMessage(threadId, { content: `go ${steps}` });
      await done;
    },
    async bare(workflow, steps) {
      const workflowId = `bare/${randomUUID()}`;
      await client.temporal.workflow.execute(workflow, { workflowId, taskQueue: 'bare', args: [steps] });
      return workflowId;
    },
  };
}

/** Installs Temporal's runtime without its log lines and its signal handlers. Call once per process. */
export function quietRuntime(): void {
  Runtime.install({ shutdownSignals: [], logger: silent });
}
