/** What the project adds to a new task beside its spec: its manifest and its required knowledge. Pure. */

import type { ManifestDefinition } from '../author/manifest.ts';
import type { Registry } from '../author/registry.ts';
import type { KnowledgeRequirement } from '../task/knowledge.ts';
import type { AgentTaskSpec } from '../task/spec.ts';

/** Returns the first manifest, ordered by name, whose `run` is this task. */
export function findManifest(
  { manifests }: Pick<Registry, 'manifests'>,
  task: string,
): ManifestDefinition | undefined {
  return [...manifests.values()]
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .find(({ run }) => run === task);
}

export interface FirstKnowledge {
  readonly requirements: readonly KnowledgeRequirement[];
  /** `over` if no knowledge needs to be checked first: the loop begins at once. */
  readonly preflight: 'due' | 'over';
}

export function firstKnowledge(
  project: Pick<Registry, 'manifests' | 'tasks'>,
  name: string,
  { requiredKnowledge }: Pick<AgentTaskSpec, 'requiredKnowledge'>,
): FirstKnowledge {
  const definition = project.tasks.get(name);
  const requirements =
    requiredKnowledge ?? definition?.requiredKnowledge ?? findManifest(project, name)?.knowledge ?? [];
  const asksFirst = requirements.length > 0 || definition?.knowledge?.buildReadiness !== undefined;
  return { requirements, preflight: asksFirst ? 'due' : 'over' };
}
