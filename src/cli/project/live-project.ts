/** The definitions of a project as a running worker uses them: loaded once, replaced when a later load has no problems. */

import { asProjectCode } from '../../author/guard/author-run.ts';
import type { Registry } from '../../core/author/registry.ts';
import { escapeControls } from '../../core/value/shown-text.ts';
import { formatProblems, type LoaderOptions, loadProject, requireSound } from '../../definitions/index.ts';
import { note } from '../output/output.ts';

export interface LiveProject {
  current(): Registry;
  /** Time of the load in milliseconds since 1970: later changes may be missing. */
  readonly loadedAt: number;
  /** What the definitions in use were loaded from, and the files of later loads that had problems. */
  readonly files: ReadonlySet<string>;
  /**
   * Throws `InvalidDefinitions` with every problem, or the reason of the signal, and then keeps the old definitions.
   */
  reload(signal: AbortSignal): Promise<void>;
}

export interface OpenOptions {
  /** True if warnings are not written to standard error. */
  readonly quiet?: boolean | undefined;
  /** True if this process has loaded the project before. */
  readonly fresh?: boolean;
  /** Gives up the load, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Takes the paths of what is loaded, relative to the project; also those of a load that has problems. */
  readonly files?: Set<string>;
}

/** Throws `InvalidDefinitions` with every problem. */
export async function openProject(projectDir: string, options: OpenOptions = {}): Promise<LiveProject> {
  const { quiet = false, fresh: anew = false, signal, files = new Set() } = options;
  const loadedAt = Date.now();
  const load = async (given: LoaderOptions) => {
    const loaded = await asProjectCode(() => loadProject(projectDir, given));
    if (loaded.problems.length === 0) files.clear();
    for (const file of loaded.files) files.add(file);
    const { registry, warnings } = requireSound(loaded);
    if (warnings.length > 0 && !quiet) note(`Warning:\n${escapeControls(formatProblems(warnings))}`);
    return registry;
  };
  let current = await load({ fresh: anew, signal });
  return {
    current: () => current,
    loadedAt,
    files,
    async reload(given) {
      current = await load({ fresh: true, signal: given });
    },
  };
}

export function agentNames(registry: Registry): string[] {
  return [...registry.agents.keys()];
}
