/** What authors pass to `defineManifest`. Types alone; `define-manifest.ts` checks them. */
import type { ManifestSurfaces, Rubric } from '../core/author/manifest.ts';
import type { Awaitable } from '../core/author/task.ts';
import type { KnowledgeRequirement } from '../core/task/knowledge.ts';

export interface ManifestInput {
  /** Of the agent, as runs and findings are filed under. */
  id: string;
  /** The folder that surfaces lie below: `import.meta.dirname` of the file, or what it leads to. */
  repoRoot: string;
  /**
   * What may be edited, by name: `prompt`, `skills`, `tools`, `personas`, `knowledge`, and others of your own. Directories, but for `rubric`, `outputSchema`,
   * `rolloutPolicy` and `agentProfile`, which are files; a `prompt` may be either.
   */
  surfaces: ManifestSurfaces;
  /** What must be known before a task of it acts, where neither the task nor its definition says. */
  knowledge?: readonly (Partial<KnowledgeRequirement> & Pick<KnowledgeRequirement, 'id' | 'description'>)[];
  /** Scored at the end of each task: the weights of its dimensions add up to about 1. */
  rubric?: Rubric;
  /** In order. */
  personas?: () => Awaitable<readonly unknown[]>;
  /** A task of `agents/tasks`, or an agent; a function lives with its process, and no task is of this manifest. */
  run: string | ((...given: never[]) => unknown);
}
