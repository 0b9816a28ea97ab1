/**
 * The worker process of `everthread worker` and `everthread dev`: a program of its own that its supervisor configures
 * (supervisor/supervise.ts). Author code is loaded in this process alone.
 * W1. A signal asks it to stop, as the supervisor's message does, any number of times: Ctrl-C reaches both processes, and so does
 *     a signal to the whole group. Only the supervisor ends it at once.
 * W2. It ends when the supervisor is gone.
 */
import { readConfiguration } from '../../configuration.ts';
import { receiveSecrets } from '../../secret-environment.ts';
import type { FromWorker, ToldDeath, ToWorker } from '../../supervisor/index.ts';
import { workUnderSupervision } from '../../worker/under-supervision.ts';
import { keepCompiled } from '../compile-cache.ts';
import type { FoundServer } from '../connection/find-server.ts';
import { reportFailure } from '../exit.ts';
import { agentNames, openProject } from '../project/live-project.ts';
import type { ReadyWorker, WorkerOrder } from './supervised-worker.ts';

/** Codes that a restart cannot fix. An unreachable server or database returns, and definitions get corrected. */
const FINAL: readonly string[] = ['InvalidConfiguration', 'StoreMismatch', 'StoreLost', 'StoreCorrupt'];

const LEFT_BEHIND_MS = 2_000;

interface Told {
  readonly order: WorkerOrder;
  readonly deaths: readonly ToldDeath[];
  readonly server: Promise<FoundServer>;
  readonly stop: AbortSignal;
}

async function serve({ order, deaths, server, stop }: Told): Promise<void> {
  const { projectDir, taskQueue, watch, secrets } = order;
  doing('reading its project');
  const project = await openProject(projectDir);
  tell({ kind: 'loaded' });
  const found = await server;
  doing('loading the worker');
  const { runWorker } = await import('./run-worker.ts');
  const { watchProject } = await import('../project/watch-project.ts');
  await runWorker({
    projectDir,
    project,
    server: found,
    taskQueue,
    stop,
    secrets,
    deaths,
    doing,
    ready(worker) {
      const { storeId, taskQueue: queue } = worker;
      tell({ kind: 'ready', ready: { storeId, taskQueue: queue, agents: agentNames(project.current()) } });
      return watch ? watchProject(order, project) : undefined;
    },
  });
}

function tell(message: FromWorker<ReadyWorker>): void {
  process.send?.(message, () => undefined);
}

/** The failure occurred before the worker was ready. */
function doing(what: string): void {
  tell({ kind: 'doing', what });
}

/** Resolves with the order; later changes are part of it. */
function listen(): Promise<Told> {
  const stop = new AbortController();
  const server = Promise.withResolvers<FoundServer>();
  // W1: a signal is a request to stop.
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      tell({ kind: 'leaving' });
      stop.abort();
    });
  return new Promise((resolve) => {
    process.on('message', (message: ToWorker<WorkerOrder, FoundServer>) => {
      if (message.kind === 'stop') stop.abort();
      else if (message.kind === 'server') server.resolve(message.server);
      else {
        const { order, deaths } = message;
        resolve({ order, deaths, server: server.promise, stop: stop.signal });
      }
    });
  });
}

// W2: the channel closed.
const onOrphaned = () => process.exit(1);
process.on('disconnect', onOrphaned);
// A closed output pipe is handled by the supervisor: work continues.
process.stdout.on('error', () => undefined);

keepCompiled();
const told = await listen();
receiveSecrets(told.order.secrets);
try {
  workUnderSupervision(readConfiguration());
  await serve(told);
} catch (error) {
  if (FINAL.includes((error as { code?: string }).code ?? '')) tell({ kind: 'refusing' });
  process.exitCode = reportFailure(error);
}
process.off('disconnect', onOrphaned);
process.disconnect();
// A timer left behind by a tool must not keep the process alive.
setTimeout(() => process.exit(), LEFT_BEHIND_MS).unref();
