/** Reloads a project's definitions on changes while its worker runs, and reports that. */
import { errorMessage } from '../../core/value/error.ts';
import { reportFailure } from '../exit.ts';
import { announce } from '../output/logger.ts';
import { dimNote, note, printJsonLine } from '../output/output.ts';
import { agentNames, type LiveProject } from './live-project.ts';
import { type FixedFile, type Watcher, watchAgents } from './watch-agents.ts';

const UNAPPLIED: Readonly<Record<FixedFile, string>> = {
  '.env': 'its settings apply when this command is started again.',
  'package.json':
    'packages that are loaded already stay as they are until this command is started again; new ones can be imported.',
};

export interface WatchedProject {
  readonly projectDir: string;
  readonly json: boolean;
}

export function watchProject({ projectDir, json }: WatchedProject, project: LiveProject): Watcher {
  const reload = async (signal: AbortSignal) => {
    try {
      await project.reload(signal);
      const agents = agentNames(project.current());
      if (json) printJsonLine({ event: 'reloaded', agents });
      const text = `Reloaded: ${agents.join(', ') || 'no agents'}.`;
      announce({ text, message: 'Reloaded', fields: { agents } });
    } catch (error) {
      // What has changed since is loaded next.
      if (signal.aborted) return;
      printProblems(error, { json, next: 'The previous definitions stay in use.' });
    }
  };
  return watchAgents({
    projectDir,
    since: project.loadedAt,
    files: project.files,
    changed: reload,
    unapplied: (file) => announce({ text: `${file} has changed: ${UNAPPLIED[file]}` }),
    failed: (error) =>
      note(`Warning: changes are no longer detected (${errorMessage(error)}); restart the command.`),
  });
}

/** Reports problems to people, and as an event if results are JSON. */
export function printProblems(
  error: unknown,
  { json, next }: { readonly json: boolean; readonly next: string },
): void {
  if (json) printJsonLine({ event: 'problems', message: errorMessage(error) });
  reportFailure(error);
  dimNote(next);
}
