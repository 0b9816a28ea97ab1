/**
 * Opens a project that its author is editing: while it has problems, reports them and waits for a change below
 * `agents/`.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { isRuntimeError } from '../../core/value/error.ts';
import { type LiveProject, openProject } from './live-project.ts';
import { watchAgents } from './watch-agents.ts';

export interface OpenWhenFixedOptions {
  readonly projectDir: string;
  readonly stop: AbortSignal;
  /** Called with the problems after each load that finds some. */
  readonly problems: (error: unknown) => void;
  /** True if warnings are not printed. */
  readonly quiet?: boolean;
}

/**
 * Resolves to undefined after a stop. Throws errors that no change of a definition fixes, such as a missing `agents/`.
 */
export async function openWhenFixed(mended: OpenWhenFixedOptions): Promise<LiveProject | undefined> {
  const { projectDir, stop, problems, quiet } = mended;
  for (let fresh = false; !stop.aborted; fresh = true) {
    const since = Date.now();
    try {
      return await openProject(projectDir, { quiet, fresh, signal: stop });
    } catch (error) {
      if (stop.aborted) return undefined;
      if (!isRuntimeError(error, 'InvalidDefinitions') || !isProject(projectDir)) throw error;
      problems(error);
      await waitForChange(projectDir, since, stop);
    }
  }
  return undefined;
}

function isProject(projectDir: string): boolean {
  return statSync(join(projectDir, 'agents'), { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Resolves at the first change since then, or at the stop. Rejects if changes cannot be watched. */
async function waitForChange(projectDir: string, since: number, stop: AbortSignal): Promise<void> {
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
