/** `everthread dev`: everything that agents need on this machine, in one terminal. */
import type { Command } from 'commander';
import { readConfiguration } from '../../configuration.ts';
import { ensureKeyFile } from '../../store/key-file.ts';
import { makeProjectFolder } from '../../store/project-folder.ts';
import { act, addCommon, addTaskQueue, type Cli, type CommonOptions, GROUPS } from '../command.ts';
import { banner } from '../dev-banner.ts';
import { reportFailure } from '../exit.ts';
import { findServer } from '../find-server.ts';
import { showPath } from '../find-store.ts';
import { type Interruption, withInterruption } from '../interruption.ts';
import { agentNames, type LiveProject, openProject } from '../live-project.ts';
import { type ResolvedServer, resolveServer } from '../local-server/dev-server.ts';
import { dimNote, note, printJsonLine, printLine } from '../output.ts';
import { type Watcher, watchAgents } from '../watch-agents.ts';

interface DevOptions extends CommonOptions {
  readonly taskQueue?: string;
}

export function addDev(program: Command, cli: Cli): void {
  const command = program
    .command('dev')
    .helpGroup(GROUPS.run)
    .summary('run everything on this machine: Temporal server, worker, reload on change')
    .description(
      'Runs the agents of the project: a worker, and a Temporal server unless TEMPORAL_ADDRESS, a profile, or one at ' +
        '127.0.0.1:7233 is there. Changes below agents/ are taken over at once; where they have problems, the ' +
        'definitions from before stay in use. Ctrl-C stops everything that was started; threads are kept.',
    );
  addCommon(addTaskQueue(command)).action(act(cli, runDev));
}

async function runDev(options: DevOptions): Promise<undefined> {
  // Said now, and not when everything else has been done.
  readConfiguration();
  await withInterruption(async (interruption) => {
    const project = await openProject(options.project);
    makeProjectFolder(options.project, note);
    makeKey(options.project);
    const server = await resolveServer({ projectDir: options.project, progress: note });
    interruption.onForce(() => killServer(server));
    server.lost?.addEventListener('abort', interruption.stop);
    try {
      await serve(options, { interruption, project, server });
      server.lost?.throwIfAborted();
    } finally {
      await server.started?.stop();
    }
    note('Stopped.');
  });
  return undefined;
}

/** Variables are encrypted: a project in development has a key of its own, unless one is configured. */
function makeKey(projectDir: string): void {
  if (readConfiguration().encryptionKeys) return;
  const path = ensureKeyFile(projectDir);
  if (path) note(`Made ${showPath(path)}, which variables are encrypted with: without it they are lost.`);
}

interface Parts {
  readonly interruption: Interruption;
  readonly project: LiveProject;
  readonly server: ResolvedServer;
}

async function serve({ project: projectDir, taskQueue, json }: DevOptions, parts: Parts): Promise<void> {
  const { interruption, project, server } = parts;
  const { runWorker } = await import('../run-worker.ts');
  const { address, namespace, uiUrl } = server;
  await runWorker({
    projectDir,
    project,
    server: {
      ...findServer(projectDir),
      address,
      namespace,
      connection: { ...findServer(projectDir).connection, address },
    },
    taskQueue,
    interruption,
    ready(worker) {
      const agents = agentNames(project.current());
      const { storeId } = worker;
      if (json)
        printJsonLine({
          event: 'ready',
          address,
          namespace,
          uiUrl,
          taskQueue: worker.taskQueue,
          storeId,
          agents,
        });
      else printLine(banner({ server, taskQueue: worker.taskQueue, storeId, agents, projectDir }));
      return watchProject(projectDir, project, json === true);
    },
  });
}

function watchProject(projectDir: string, project: LiveProject, json: boolean): Watcher {
  const reload = async () => {
    try {
      await project.reload();
      const agents = agentNames(project.current());
      if (json) printJsonLine({ event: 'reloaded', agents });
      note(`Reloaded: ${agents.join(', ') || 'no agents'}.`);
    } catch (error) {
      if (json) printJsonLine({ event: 'problems', message: (error as Error).message });
      reportFailure(error);
      dimNote('The definitions from before stay in use.');
    }
  };
  return watchAgents({
    projectDir,
    since: project.loadedAt,
    changed: reload,
    failed: (error) => note(`Warning: changes are no longer seen (${error.message}); start again.`),
  });
}

/** Without waiting: the process ends now, and a guardian sees to the rest. */
function killServer({ started }: ResolvedServer): void {
  void started?.kill();
  void started?.stop();
}
