/** A worker on a project, as the process of `everthread worker` and `everthread dev` runs it: connects, serves until the stop, closes. */
import { extname } from 'node:path';
import { NativeConnection } from '@temporalio/worker';
import { readConfiguration } from '../../configuration.ts';
import type { Secrets } from '../../secret-environment.ts';
import type { ReportedDeath } from '../../supervisor/index.ts';
import { createWorker, type ThreadWorker } from '../../worker/index.ts';
import { type FoundServer, requireListening, serverUnreachable } from '../connection/find-server.ts';
import { createLogListener } from '../output/log-listener.ts';
import type { LiveProject } from '../project/live-project.ts';
import { installTemporalRuntime } from './temporal-runtime.ts';

const LONE_PROGRAM = new URL(`./lone-program${extname(import.meta.url)}`, import.meta.url);

export interface WorkerRun {
  readonly projectDir: string;
  readonly project: LiveProject;
  readonly server: FoundServer;
  readonly taskQueue?: string;
  readonly temporalMetrics?: string | undefined;
  readonly stop: AbortSignal;
  readonly secrets: Secrets;
  readonly deaths: readonly ReportedDeath[];
  /** Called with a description of the next step, for people. */
  readonly doing: (what: string) => void;
  /** Called when the worker is about to take work. Returns what is to be closed at the end. */
  readonly ready: (worker: ThreadWorker) => { close(): Promise<void> } | undefined;
}

/** Resolves when everything is finished or handed over after a stop. */
export async function runWorker(run: WorkerRun): Promise<void> {
  const { stop, project, projectDir, taskQueue, server, secrets, deaths, doing, temporalMetrics } = run;
  doing(`connecting to the Temporal server at ${server.address}`);
  await requireListening(server);
  // Created just before its first use: an unused runtime keeps the process from ending.
  const { log } = readConfiguration();
  const logger = installTemporalRuntime(log, temporalMetrics);
  const connection = await connect(server);
  try {
    const worker = await createWorker({
      projectDir,
      connection,
      namespace: server.namespace,
      taskQueue,
      registry: project.current,
      supervision: {
        deaths,
        program: LONE_PROGRAM,
        place: { projectDir, secrets, namespace: server.namespace, connection: server.connection },
      },
      onStep: doing,
      listener: createLogListener(logger),
      onWarning: (warning) => logger.warn(warning),
    });
    const working = worker.run();
    stop.addEventListener('abort', () => worker.shutdown());
    if (stop.aborted) worker.shutdown();
    const beside = run.ready(worker);
    await working.finally(() => beside?.close());
  } finally {
    await connection.close();
  }
}

async function connect(server: FoundServer): Promise<NativeConnection> {
  try {
    return await NativeConnection.connect(
      server.connection as Parameters<typeof NativeConnection.connect>[0],
    );
  } catch (cause) {
    throw await serverUnreachable(server, cause);
  }
}
