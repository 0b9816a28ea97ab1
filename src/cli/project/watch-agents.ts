/**
 * Reports changes of what a project is loaded from, all of `agents/` and files elsewhere that it imports: once for a
 * burst of changes, and never concurrently.
 * - Folders are watched, with all else in them ignored: so a replaced file or `agents/` is still followed.
 */

import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, parse, relative, resolve, sep } from 'node:path';
import { watch } from 'chokidar';
import { isRuntimeError } from '../../core/value/error.ts';
import { type LiveProject, openProject } from './live-project.ts';

/** Milliseconds until changes are over: editors write a file in several steps, and tools write several files. */
const SETTLE_MS = 150;

/** Files that a load reads and does not list. */
const ALSO_READ = ['tsconfig.json'];
/** Files that this process has read for good. */
const FIXED_FILES = ['.env', 'package.json'] as const;
export type FixedFile = (typeof FIXED_FILES)[number];

export interface Watcher {
  close(): Promise<void>;
}

export interface WatchOptions {
  readonly projectDir: string;
  /** Milliseconds since 1970: a file changed after that, before the watcher existed, counts as changed now. */
  readonly since: number;
  /** Paths outside `agents/`, relative to the project, without their extension if need be. Read again after each change. */
  readonly files: ReadonlySet<string>;
  /** Must not throw. The signal is aborted by the next change, and when the watcher closes. */
  readonly changed: (signal: AbortSignal) => Promise<void>;
  /** Called for a change that no load takes. */
  readonly unapplied?: (file: FixedFile) => void;
  readonly failed: (error: Error) => void;
}

export function watchAgents(options: WatchOptions): Watcher {
  const { files, changed, unapplied } = options;
  const projectDir = realpathSync(options.projectDir);
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
      running = running.then(() => load(signal));
    }, SETTLE_MS);
  };
  const noticed = (path: string) => {
    const fixed = FIXED_FILES.find((name) => join(projectDir, name) === path);
    if (fixed === undefined) settle();
    else if (!closed) unapplied?.(fixed);
  };
  const follow = (since: number) =>
    followSources({ ...options, projectDir, since, files: listPaths(projectDir, files), noticed });
  let followed = follow(options.since);
  const load = async (signal: AbortSignal) => {
    const since = Date.now();
    await changed(signal);
    const isFollowed = [...listPaths(projectDir, files)].every((file) => followed.files.has(file));
    if (closed || isFollowed) return;
    await followed.close();
    followed = follow(since);
  };
  return {
    async close() {
      closed = true;
      clearTimeout(timer);
      outdated.abort();
      await running;
      await followed.close();
    },
  };
}

function listPaths(projectDir: string, files: ReadonlySet<string>): Set<string> {
  return new Set([...files, ...ALSO_READ].map((file) => resolve(projectDir, file)));
}

interface Followed extends Watcher {
  readonly files: ReadonlySet<string>;
}

interface FollowOptions extends Pick<WatchOptions, 'projectDir' | 'since' | 'failed'> {
  /** Absolute. */
  readonly files: ReadonlySet<string>;
  readonly noticed: (path: string) => void;
}

function followSources({ projectDir, since, files, noticed, failed }: FollowOptions): Followed {
  const elsewhere = [...files].filter((file) => isOutside(projectDir, file)).map((file) => dirname(file));
  const fixed = FIXED_FILES.map((name) => join(projectDir, name));
  const concerns = (path: string) =>
    concernsAgents(relative(projectDir, path)) || namesOf(path).some((name) => files.has(name));
  const leadsToOne = (path: string) => [...files].some((file) => file.startsWith(path + sep));
  const watcher = watch([...new Set([projectDir, ...elsewhere])], {
    ignoreInitial: true,
    ignored: (path) => !concerns(path) && !leadsToOne(path) && !fixed.includes(path),
  });
  watcher.on('all', (_event, path) => {
    if (concerns(path) || fixed.includes(path)) noticed(path);
  });
  watcher.on('error', (error) => failed(error as Error));
  watcher.on('ready', () => {
    const agents = join(projectDir, 'agents');
    const added = [...files].filter((file) => !existsSync(file)).flatMap((file) => listFor(file));
    if (isNewer([agents, ...listBelow(agents), ...files, ...added], since)) noticed(agents);
    for (const path of fixed) if (isNewer([path], since)) noticed(path);
  });
  return { files, close: () => watcher.close() };
}

function isOutside(folder: string, path: string): boolean {
  return relative(folder, path).startsWith('..');
}

/** How an import may name a file: in full, without its extension, as it is compiled, or by the folder that it is the index of. */
function namesOf(path: string): string[] {
  const { dir, name, ext } = parse(path);
  const stem = join(dir, name);
  return [path, stem, stem + ext.replace('ts', 'js'), `${stem}.js`, dir];
}

/** Returns the files that an import may mean. */
function listFor(name: string): string[] {
  return listBelow(dirname(name), false).filter((path) => namesOf(path).includes(name));
}

/** `below` is relative to the project. Hidden files are ignored: editors keep them beside the files that they edit. */
function concernsAgents(below: string): boolean {
  if (below === '') return true;
  const names = below.split(sep === '\\' ? /[\\/]/ : sep);
  return names[0] === 'agents' && !names.some((name) => name.startsWith('.'));
}

/** True if any was changed since then; adding, replacing or removing a file changes its folder. */
function isNewer(paths: readonly string[], since: number): boolean {
  // Parts of a millisecond: a file may have been made just now.
  const end = Date.now() + 1;
  return paths.some((path) => {
    const entry = statSync(path, { throwIfNoEntry: false });
    // The time of writing stays if a file is moved or unpacked. After a clock was set back, all would count each time.
    return entry !== undefined && entry.ctimeMs > since && entry.ctimeMs < end;
  });
}

function listBelow(folder: string, recursive = true): string[] {
  try {
    return readdirSync(folder, { recursive, encoding: 'utf8' }).map((name) => join(folder, name));
  } catch {
    return [];
  }
}

/**
 * Opens a project that its author is editing: while it has problems, reports them and waits for a change of what it is
 * loaded from.
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
  const files = new Set<string>();
  for (let fresh = false; !stop.aborted; fresh = true) {
    const since = Date.now();
    try {
      return await openProject(projectDir, { quiet, fresh, signal: stop, files });
    } catch (error) {
      if (stop.aborted) return undefined;
      if (!isRuntimeError(error, 'InvalidDefinitions') || !isProject(projectDir)) throw error;
      problems(error);
      await waitForChange({ projectDir, since, files }, stop);
    }
  }
  return undefined;
}

function isProject(projectDir: string): boolean {
  return statSync(join(projectDir, 'agents'), { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Resolves at the first change since then, or at the stop. Rejects if changes cannot be watched. */
async function waitForChange(
  watched: Pick<WatchOptions, 'projectDir' | 'since' | 'files'>,
  stop: AbortSignal,
): Promise<void> {
  const { promise, resolve: end, reject } = Promise.withResolvers<void>();
  const changed = async () => end();
  const onStop = () => end();
  const watcher = watchAgents({ ...watched, changed, failed: reject });
  stop.addEventListener('abort', onStop);
  if (stop.aborted) onStop();
  try {
    await promise;
  } finally {
    stop.removeEventListener('abort', onStop);
    await watcher.close();
  }
}
