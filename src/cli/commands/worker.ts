/** `everthread worker`: a worker for a Temporal service that runs elsewhere. */
import type { Command } from 'commander';
import { readConfiguration } from '../../configuration.ts';
import { narrowProjectFolder } from '../../store/project-folder.ts';
import { act, addCommon, addTaskQueue, type Cli, type CommonOptions, GROUPS } from '../command.ts';
import { findServer } from '../find-server.ts';
import { withInterruption } from '../interruption.ts';
import { note, printJsonLine } from '../output.ts';

interface WorkerOptions extends CommonOptions {
  readonly taskQueue?: string;
}

export function addWorker(program: Command, cli: Cli): void {
  const command = program
    .command('worker')
    .helpGroup(GROUPS.run)
    .summary('run a worker against a Temporal server that is there already')
    .description(
      'Runs the agents of the project for the Temporal server of TEMPORAL_ADDRESS or a profile. Ctrl-C or SIGTERM ' +
        'finishes what runs or hands it over; a second one ends at once. Several workers may share one store and queue.',
    );
  addCommon(addTaskQueue(command)).action(act(cli, runWorkerCommand));
}

async function runWorkerCommand({ project: projectDir, taskQueue, json }: WorkerOptions): Promise<undefined> {
  // Said now, and not when everything else has been done.
  readConfiguration();
  await withInterruption(async (interruption) => {
    const [{ runWorker }, { agentNames, openProject }] = await Promise.all([
      import('../run-worker.ts'),
      import('../live-project.ts'),
    ]);
    const project = await openProject(projectDir);
    narrowProjectFolder(projectDir, note);
    const server = findServer(projectDir);
    await runWorker({
      projectDir,
      project,
      server,
      taskQueue,
      interruption,
      ready(worker) {
        const agents = agentNames(project.current());
        const { address, namespace } = server;
        if (json)
          printJsonLine({
            event: 'ready',
            address,
            namespace,
            taskQueue: worker.taskQueue,
            storeId: worker.storeId,
            agents,
          });
        note(
          `Worker ready: ${agents.length} ${agents.length === 1 ? 'agent' : 'agents'} (${agents.join(', ')}) on task queue ` +
            `"${worker.taskQueue}" of ${address}, namespace ${namespace}, store ${worker.storeId}.`,
        );
        return undefined;
      },
    });
    note('Worker stopped.');
  });
  return undefined;
}
