/** A project that its author is writing: where it has problems, they are told, and the next change below `agents/` is waited for. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { isRuntimeError } from '../../core/value/error.ts';
import { type LiveProject, openProject } from './live-project.ts';
import { watchAgents } from './watch-agents.ts';

export interface MendedProject {
  readonly projectDir: string;
  readonly stop: AbortSignal;
  /** Called with what is wrong, each time that it is still wrong. */
  readonly problems: (error: unknown) => void;
  /** Nothing is said of warnings. */
  readonly quiet?: boolean;
}

/** Undefined after a stop. Throws what no change of a definition mends, such as a folder that is no project. */
export async function openMended(mended: MendedProject): Promise<LiveProject | undefined> {
  const { projectDir, stop, problems, quiet } = mended;
  for (let fresh = false; !stop.aborted; fresh = true) {
    const since = Date.now();
    try {
      return await openProject(projectDir, { quiet, fresh });
    } catch (error) {
      if (!isRuntimeError(error, 'InvalidDefinitions') || !isProject(projectDir)) throw error;
      problems(error);
      await change(projectDir, since, stop);
    }
  }
  return undefined;
}

function isProject(projectDir: string): boolean {
  return statSync(join(projectDir, 'agents'), { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Resolves with the first change since then, or with the stop. Rejects where changes cannot be seen. */
async function change(projectDir: string, since: number, stop: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const changed = async () => resolve();
  const onStop = () => resolve();
  const watcher = watchAgents({ projectDir, since, changed, failed: reject });
  stop.addEventListener('abort', onStop);
  if (stop.aborted) onStop();
  try {
    await promise;
  } finally {
    stop.removeEventListener('abort', onStop);
    await watcher.close();
  }
}
