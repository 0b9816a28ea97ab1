/** Reports changes below a project's `agents/`: once for a burst of changes, and never concurrently. */
import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs';
import { join } from 'node:path';

/** Editors write a file in several steps, and tools write several files. */
const SETTLE_MS = 150;

export interface Watcher {
  close(): Promise<void>;
}

export interface WatchOptions {
  readonly projectDir: string;
  /** Milliseconds since 1970: a file changed after that, before the watcher existed, counts as changed now. */
  readonly since: number;
  /** Must not throw. */
  readonly changed: () => Promise<void>;
  readonly failed: (error: Error) => void;
}

export function watchAgents({ projectDir, since, changed, failed }: WatchOptions): Watcher {
  const folder = join(projectDir, 'agents');
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  const settle = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      running = running.then(changed);
    }, SETTLE_MS);
  };
  const watcher: FSWatcher = watch(folder, { recursive: true }, settle);
  watcher.on('error', failed);
  if (isNewer(folder, since)) settle();
  return {
    async close() {
      clearTimeout(timer);
      watcher.close();
      await running;
    },
  };
}

/** Whether anything below was written since then: a folder is when a file was added or removed. */
function isNewer(folder: string, since: number): boolean {
  const below = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return ['.', ...below].some((name) => {
    const entry = statSync(join(folder, name), { throwIfNoEntry: false });
    return entry !== undefined && entry.mtimeMs > since;
  });
}
