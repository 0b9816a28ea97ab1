/** Tells when something below a project's `agents/` changed: once for a burst of changes, and never twice at a time. */
import { type FSWatcher, watch } from 'node:fs';
import { join } from 'node:path';

/** Editors write a file in several steps, and tools write several files. */
const SETTLE_MS = 150;

export interface Watcher {
  close(): Promise<void>;
}

/** `changed` must not throw. */
export function watchAgents(
  projectDir: string,
  changed: () => Promise<void>,
  failed: (error: Error) => void,
): Watcher {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  const settle = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      running = running.then(changed);
    }, SETTLE_MS);
  };
  const watcher: FSWatcher = watch(join(projectDir, 'agents'), { recursive: true }, settle);
  watcher.on('error', failed);
  return {
    async close() {
      clearTimeout(timer);
      watcher.close();
      await running;
    },
  };
}
