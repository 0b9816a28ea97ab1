/** The definitions that a worker runs: given in code, or loaded from the project's folder, and reloaded. */

import { asProjectCode } from '../author/guard/author-run.ts';
import type { Registry } from '../core/author/registry.ts';
import { formatProblems, requireProject } from '../definitions/index.ts';

export interface WorkerProject {
  current(): Registry;
  /** Loads the project again. If it has problems, throws `InvalidDefinitions` and keeps the previous definitions. */
  reload(): Promise<void>;
}

export interface ProjectSource {
  readonly projectDir: string;
  readonly registry?: Registry | (() => Registry);
  readonly onWarning?: (warning: string) => void;
}

/** Throws `InvalidDefinitions` with every problem. */
export async function openProject({
  projectDir,
  registry,
  onWarning,
}: ProjectSource): Promise<WorkerProject> {
  if (registry) {
    const current = typeof registry === 'function' ? registry : () => registry;
    return { current, reload: async () => undefined };
  }
  const load = async (fresh: boolean): Promise<Registry> => {
    const { registry: loaded, warnings } = await asProjectCode(() => requireProject(projectDir, { fresh }));
    if (warnings.length > 0) onWarning?.(formatProblems(warnings));
    return loaded;
  };
  let current = await load(false);
  return {
    current: () => current,
    reload: async () => {
      current = await load(true);
    },
  };
}
