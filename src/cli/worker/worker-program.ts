/**
 * The worker process of `everthread worker` and `everthread dev`: a program of its own, told what to do by its supervisor
 * (supervisor/supervise.ts). It alone loads the author's code.
 * W1. A signal asks it to stop, as the supervisor's message does, any number of times: Ctrl-C reaches both processes, and so does
 *     what ends a whole group. Only the supervisor ends it at once.
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

/** Codes that no other start mends. A server or database that is away comes back, and definitions are mended. */
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

/** Before it is ready. */
function doing(what: string): void {
  tell({ kind: 'doing', what });
}

/** Resolves with the order; what comes later is in it. */
function listen(): Promise<Told> {
  const stop = new AbortController();
  const server = Promise.withResolvers<FoundServer>();
  // W1.
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

// W2.
const onOrphaned = () => process.exit(1);
process.on('disconnect', onOrphaned);
// A reader that has seen enough is the supervisor's to notice: work goes on.
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
// A timer that a tool has left behind is nothing to wait for.
setTimeout(() => process.exit(), LEFT_BEHIND_MS).unref();
