/**
 * Reports changes below a project's `agents/`: once for a burst of changes, and never concurrently.
 * - The project's folder is watched, with all but `agents/` ignored: so a replaced `agents/` is still followed.
 */

import { readdirSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { watch } from 'chokidar';
import { isRuntimeError } from '../../core/value/error.ts';
import { type LiveProject, openProject } from './live-project.ts';

/** Milliseconds until changes are over: editors write a file in several steps, and tools write several files. */
const SETTLE_MS = 150;

export interface Watcher {
  close(): Promise<void>;
}

export interface WatchOptions {
  readonly projectDir: string;
  /** Milliseconds since 1970: a file changed after that, before the watcher existed, counts as changed now. */
  readonly since: number;
  /** Must not throw. The signal is aborted by the next change, and when the watcher closes. */
  readonly changed: (signal: AbortSignal) => Promise<void>;
  readonly failed: (error: Error) => void;
}

export function watchAgents({ projectDir, since, changed, failed }: WatchOptions): Watcher {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let closed = false;
  let outdated = new AbortController();
  const settle = () => {
    if (closed) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      outdated.abort();
      outdated = new AbortController();
      const { signal } = outdated;
      running = running.then(() => changed(signal));
    }, SETTLE_MS);
  };
  // Watches the project's folder; all except `agents/` is ignored.
  const watcher = watch(projectDir, {
    ignoreInitial: true,
    ignored: (path) => !concernsAgents(relative(projectDir, path)),
  });
  watcher.on('all', settle);
  watcher.on('error', (error) => failed(error as Error));
  watcher.on('ready', () => {
    if (isNewer(join(projectDir, 'agents'), since)) settle();
  });
  return {
    async close() {
      closed = true;
      clearTimeout(timer);
      outdated.abort();
      await watcher.close();
      await running;
    },
  };
}

/** `below` is relative to the project. Hidden files are ignored: editors keep them beside the files that they edit. */
function concernsAgents(below: string): boolean {
  if (below === '') return true;
  const names = below.split(sep === '\\' ? /[\\/]/ : sep);
  return names[0] === 'agents' && !names.some((name) => name.startsWith('.'));
}

/** True if anything below was written since then; adding, replacing or removing a file writes its folder. */
function isNewer(folder: string, since: number): boolean {
  const now = Date.now();
  return ['.', ...listBelow(folder)].some((name) => {
    const entry = statSync(join(folder, name), { throwIfNoEntry: false });
    // A file dated in the future, as in some archives, would count as newer each time.
    return entry !== undefined && entry.mtimeMs > since && entry.mtimeMs <= now;
  });
}

function listBelow(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' });
  } catch {
    return [];
  }
}

/**
 * Opens a project that its author is editing: while it has problems, reports them and waits for a change below
 * `agents/`.
 */
interface OpenWhenFixedOptions {
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
