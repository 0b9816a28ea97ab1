/**
 * What a test agent runs on: a server, its own store in a temporary folder, and a worker and a client in this process.
 * - If opening or closing fails, everything that was opened before is still closed, in reverse order.
 * - No workflow is left on a shared server: workflows are terminated once no worker can start another one.
 */

import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { NativeConnection, Runtime } from '@temporalio/worker';
import type { RuntimeClient } from '../client/runtime-client.ts';
import { WORKFLOW_ID_PREFIX } from '../core/thread/start-input.ts';
import { errorMessage } from '../core/value/thrown.ts';
import type { ThreadStore } from '../store/store.ts';
import { readTemporalSettings } from '../temporal-settings.ts';
import { openInProcess } from '../worker/in-process.ts';
import type { TestProject } from './test-project.ts';
import { type TestServer, useServer } from './test-server.ts';
import { openTemporaryStore } from './test-store.ts';

/** Long heartbeats: a worker that a busy machine delays is not lost. Short grace: no long wait for hanging tools. */
const CONFIGURATION = {
  modelHeartbeatMs: 60_000,
  toolHeartbeatMs: 60_000,
  toolGraceMs: 500,
  modelGraceMs: 0,
};
const END_WITHIN_MS = 10_000;

export interface TestEngine {
  readonly client: RuntimeClient;
  /** Ids of threads that the test has started; a worker may not have opened them in the store. */
  readonly started: Set<string>;
  /** Closes everything that was opened. Rejects with the first failure. */
  close(): Promise<void>;
}

/** Throws as the start of a worker does, and `TemporalUnavailable`. */
export async function openTestEngine({ folder, registry }: TestProject): Promise<TestEngine> {
  const started = new Set<string>();
  const closers: (() => unknown)[] = [];
  const close = async () => {
    const failures: unknown[] = [];
    // A failure does not keep the rest open.
    for (const each of closers.splice(0).reverse()) {
      try {
        await each();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  };
  try {
    const server = await useServer(folder);
    closers.push(server.release);
    const { store, remove } = await openTemporaryStore();
    closers.push(remove);
    const connection = await connectQuietly(server);
    closers.push(() => connection.close());
    const engine = await openInProcess(registry, {
      store,
      projectDir: folder,
      taskQueue: `test-${randomUUID()}`,
      server: { ...server, connection },
      settings: { configuration: CONFIGURATION, signals: false },
    });
    const { client } = engine;
    closers.push(
      () => client.close(),
      () => endThreads(client.temporal, store, started),
      () => engine.shutdown(),
    );
    return { client, started, close };
  } catch (error) {
    await close().catch(() => undefined);
    throw error;
  }
}

/** Terminates the workflows of all threads, subagents included. */
async function endThreads(temporal: Client, store: ThreadStore, started: ReadonlySet<string>): Promise<void> {
  const stored = await store.threads.list({ limit: 1_000_000 });
  const ids = new Set([...started, ...stored.map(({ id }) => id)]);
  const end = (id: string) =>
    temporal.workflow
      .getHandle(WORKFLOW_ID_PREFIX + id)
      .terminate('the test is over')
      // The workflow has already ended, or the server has.
      .catch(() => undefined);
  await temporal.withDeadline(Date.now() + END_WITHIN_MS, () => Promise.all([...ids].map(end)));
}

const silent = () => undefined;

function printError(
  message: string,
  { error, stack }: Readonly<Record<string | symbol, unknown>> = {},
): void {
  const why = error === undefined ? '' : `: ${errorMessage(error)}`;
  process.stderr.write(`${message}${why}\n${typeof stack === 'string' ? `${stack}\n` : ''}`);
}

/** Installs the SDK's runtime without signal handlers: signals belong to the program that runs the tests. */
function installQuietly(): void {
  try {
    Runtime.install({
      shutdownSignals: [],
      telemetryOptions: { logging: { filter: { core: 'ERROR', other: 'ERROR' }, forward: {} } },
      logger: {
        trace: silent,
        debug: silent,
        info: silent,
        warn: silent,
        error: printError,
        log: (level, message, meta) => (level === 'ERROR' ? printError(message, meta) : undefined),
      },
    });
  } catch {
    // The process has one already: another test agent's, or the program's own.
  }
}

/**
 * Configures the worker SDK for a test process: it logs errors, and nothing else. Opens a connection, which the caller
 * must close; the runtime ends with the last connection.
 */
async function connectQuietly({ address }: TestServer): Promise<NativeConnection> {
  installQuietly();
  const { connectionOptions } = readTemporalSettings({ address });
  return NativeConnection.connect(connectionOptions);
}
