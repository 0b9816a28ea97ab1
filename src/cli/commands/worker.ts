/** `everthread worker`: a worker for a Temporal service that runs elsewhere. */
import { readConfiguration } from '../../configuration.ts';
import { narrowProjectFolder } from '../../store/folder/project-folder.ts';
import { command, HEALTH, TASK_QUEUE } from '../command.ts';
import type { FoundServer } from '../connection/find-server.ts';
import { withInterruption } from '../interruption.ts';
import { announce } from '../output/logger.ts';
import { note, printJsonLine } from '../output/output.ts';
import { type ReadyWorker, superviseWorker } from '../worker/supervised-worker.ts';

export const worker = command({
  envFile: 'announced',
  description:
    'Runs the agents of the project for the Temporal server of TEMPORAL_ADDRESS or a profile, in a process that is restarted ' +
    'if it dies. Ctrl-C or SIGTERM finishes running work within its grace period (EVERTHREAD_MODEL_GRACE_MS, EVERTHREAD_TOOL_GRACE_MS: 10 s each) or ' +
    'hands it over; a second one exits at once. Several workers may share one store and queue. It serves /healthz, /readyz and /metrics.',
  options: { ...TASK_QUEUE, ...HEALTH },
  async run({ project: projectDir, taskQueue, health, json = false }) {
    // Checked first, before anything slow.
    readConfiguration();
    narrowProjectFolder(projectDir, note);
    const { findServer, requireOwn } = await import('../connection/find-server.ts');
    const server = findServer(projectDir);
    await requireOwn(server);
    return withInterruption(async (interruption) => {
      const exitCode = await superviseWorker({
        order: { projectDir, taskQueue, json, watch: false },
        interruption,
        health,
        server: async () => server,
        ready: (worker) => printReady(worker, server, json),
      });
      if (exitCode === 0) announce({ text: 'Worker stopped.' });
      return exitCode;
    });
  },
});

function listAgents(agents: readonly string[]): string {
  if (agents.length === 0) return 'no agents yet, put one into agents/agents/ and start it again,';
  return `${agents.length} ${agents.length === 1 ? 'agent' : 'agents'} (${agents.join(', ')})`;
}

function printReady(
  { agents, taskQueue, storeId, health }: ReadyWorker,
  { address, namespace }: FoundServer,
  json: boolean,
): void {
  if (json) printJsonLine({ event: 'ready', address, namespace, taskQueue, storeId, agents, health });
  const text =
    `Worker ready: ${listAgents(agents)} on task queue ` +
    `"${taskQueue}" of ${address}, namespace ${namespace}, store ${storeId}.${health ? ` Health and metrics: ${health}/metrics.` : ''}`;
  announce({
    text,
    message: 'Worker ready',
    fields: { agents, taskQueue, address, namespace, storeId, health },
  });
}
