/** What authors pass to `defineManifest`. Types alone; `define-manifest.ts` checks them. */
import type { ManifestSurfaces, Rubric } from '../core/author/manifest.ts';
import type { Awaitable } from '../core/author/task.ts';
import type { KnowledgeRequirement } from '../core/task/knowledge.ts';

export interface ManifestInput {
  /** Id of the agent, under which runs and findings are filed. */
  id: string;
  /** The folder that contains the surfaces: `import.meta.dirname` of the file, or a path derived from it. */
  repoRoot: string;
  /**
   * Paths of what may be edited, by name: `prompt`, `skills`, `tools`, `personas`, `knowledge`, and others of your own.
   * They are directories, except `rubric`, `outputSchema`, `rolloutPolicy` and `agentProfile`, which are files;
   * `prompt` and `systemPrompt` may be either.
   */
  surfaces: ManifestSurfaces;
  /** What must be known before a task of this manifest acts, unless the task or its definition sets that itself. */
  knowledge?: readonly (Partial<KnowledgeRequirement> & Pick<KnowledgeRequirement, 'id' | 'description'>)[];
  /** Scores each task at its end. The weights of its dimensions add up to about 1. */
  rubric?: Rubric;
  /** Returns the personas, in order. */
  personas?: () => Awaitable<readonly unknown[]>;
  /**
   * Name of a task of `agents/tasks`, or of an agent. A function exists only in its process, so no task belongs to such
   * a manifest.
   */
  run: string | ((...given: never[]) => unknown);
}
