/** Opens what a worker needs before it takes work, and closes it afterwards: project, connection, store and sandbox. */
import { NativeConnection } from '@temporalio/worker';
import { type Configuration, readConfiguration } from '../configuration.ts';
import { closeConnections } from '../remote/mcp/index.ts';
import { createSandbox, type Sandbox } from '../sandbox/index.ts';
import { openStore } from '../store/open-store.ts';
import type { ThreadStore } from '../store/store.ts';
import type { EventListener } from '../store/transaction/event-record.ts';
import { readTemporalSettings } from '../temporal-settings.ts';
import { explainUnreachable } from '../temporal-unreachable.ts';
import type { OpenGuard } from './fault-log.ts';
import { createWorkerMetrics, type WorkerMetrics } from './metrics/worker-metrics.ts';
import type { WorkerOptions } from './options.ts';
import { openProject, type WorkerProject } from './project.ts';
import { openTelemetry, type Telemetry } from './telemetry/telemetry.ts';

export interface WorkerResources {
  readonly configuration: Configuration;
  readonly taskQueue: string;
  readonly project: WorkerProject;
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly store: ThreadStore;
  readonly sandbox: Sandbox;
  readonly metrics: WorkerMetrics;
  /** Absent if no OpenTelemetry SDK is registered. */
  readonly telemetry: Telemetry | undefined;
  /** Closes what was opened here, and nothing that the caller passed in. */
  readonly release: () => Promise<void>;
}

/** Throws `InvalidDefinitions`, `InvalidConfiguration`, `TemporalUnavailable`, or what the store throws. */
export async function openResources(options: WorkerOptions, guard: OpenGuard): Promise<WorkerResources> {
  const configuration = { ...readConfiguration(), ...options.configuration };
  const { onStep } = options;
  onStep?.('reading its project');
  const project = await openProject(options);
  onStep?.('connecting to the Temporal server');
  const { connection, namespace, ownsConnection } = await connect(options);
  const { store: given = configuration.store, projectDir } = options;
  const ownsStore = typeof given !== 'object';
  const { encryptionKeys: keys, familyCalls, requestDays } = configuration;
  onStep?.('opening its store');
  const opened = ownsStore ? await openStore(given, projectDir, { keys, familyCalls, requestDays }) : given;
  const metrics = createWorkerMetrics();
  const store = metrics.store(opened);
  const { executions } = opened;
  const unwatch = opened.events.listen(metrics.listener({ registry: project.current, executions }));
  const telemetry = openTelemetry({
    store,
    registry: project.current,
    traces: configuration.traces,
    onWarning: options.onWarning,
    countSpans: metrics.countSpans,
  });
  guard.know({ store, registry: project.current, spanOf: telemetry?.spanOf });
  const deafen = options.listener && store.events.listen(withSpans(options.listener, telemetry));
  const sandbox = metrics.sandbox(
    createSandbox({ size: configuration.sandboxSize, wall: configuration.sandboxWall }),
  );
  const taskQueue = options.taskQueue ?? configuration.taskQueue;
  metrics.watch({ store, connection, namespace, taskQueue });
  const release = async () => {
    // The sandbox closes before the store and the guard, because its runs may still use them.
    await sandbox.close();
    // Closes idle MCP connections only: those that other workers of this process are using stay open.
    await closeConnections();
    await Promise.all([telemetry?.close(), metrics.close()]);
    deafen?.();
    unwatch();
    if (ownsStore) await store.close();
    if (ownsConnection) await connection.close();
    guard.end();
  };
  return {
    configuration,
    taskQueue,
    project,
    connection,
    namespace,
    store,
    sandbox,
    metrics,
    telemetry,
    release,
  };
}

function withSpans(listener: EventListener, telemetry: Telemetry | undefined): EventListener {
  if (!telemetry) return listener;
  const told: EventListener['told'] = (thread, event) =>
    listener.told({ ...thread, span: telemetry.spanOf(thread.threadId, event) }, event);
  return { ...listener, told };
}

async function connect(options: WorkerOptions) {
  const { namespace: named, taskQueue } = options;
  const { connectionOptions, namespace = 'default' } = readTemporalSettings({ namespace: named, taskQueue });
  if (options.connection) return { connection: options.connection, namespace, ownsConnection: false };
  const { address = '127.0.0.1:7233' } = connectionOptions;
  try {
    const connection = await NativeConnection.connect({ ...connectionOptions, address });
    return { connection, namespace, ownsConnection: true };
  } catch (cause) {
    throw await explainUnreachable({ ...connectionOptions, address }, cause);
  }
}
