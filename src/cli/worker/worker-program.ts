/**
 * The worker process of `everthread worker` and `everthread dev`: a separate program under supervision (program.ts).
 * Author code that threads run is loaded only in this process.
 */
import { readConfiguration } from '../../configuration.ts';
import { workUnderSupervision } from '../../worker/under-supervision.ts';
import { agentNames, type LiveProject, openProject } from '../project/live-project.ts';
import { startOpenTelemetry } from '../project/start-open-telemetry.ts';
import { type ProgramContext, runProgram, sendToSupervisor } from './program.ts';
import type { ReadyWorker, WorkerOrder } from './supervised-worker.ts';

async function serve({
  order,
  deaths,
  server,
  stop,
  answerWith,
}: ProgramContext<WorkerOrder>): Promise<void> {
  workUnderSupervision(readConfiguration());
  const { projectDir, taskQueue, watch, secrets, temporalMetrics } = order;
  reportPhase('reading its project');
  await startOpenTelemetry(projectDir);
  const project = watch ? await openWatched(order, stop) : await openProject(projectDir);
  if (project === undefined) return;
  sendToSupervisor({ kind: 'loaded' });
  const found = await server;
  reportPhase('loading the worker');
  const { runWorker } = await import('./run-worker.ts');
  const { watchProject } = await import('../project/watch-project.ts');
  await runWorker({
    projectDir,
    project,
    server: found,
    taskQueue,
    temporalMetrics,
    stop,
    secrets,
    deaths,
    doing: reportPhase,
    ready(worker) {
      answerWith((what) => (what === 'metrics' ? worker.metrics() : worker.readiness()));
      const { storeId, taskQueue: queue } = worker;
      const ready: ReadyWorker = { storeId, taskQueue: queue, agents: agentNames(project.current()) };
      sendToSupervisor({ kind: 'ready', ready });
      return watch ? watchProject(order, project) : undefined;
    },
  });
}

/** Opens the project; while it has problems, waits for its author to fix them. Undefined after a stop. */
async function openWatched(
  { projectDir, json }: WorkerOrder,
  stop: AbortSignal,
): Promise<LiveProject | undefined> {
  const { openWhenFixed } = await import('../project/watch-agents.ts');
  const { printProblems } = await import('../project/watch-project.ts');
  const problems = (error: unknown) => {
    sendToSupervisor({ kind: 'unmended' });
    printProblems(error, { json, next: 'Waiting for the problems to be fixed …' });
  };
  return openWhenFixed({ projectDir, stop, problems });
}

/** Reports to the supervisor what the worker does before it is ready. */
function reportPhase(what: string): void {
  sendToSupervisor({ kind: 'doing', what });
}

await runProgram(serve);
