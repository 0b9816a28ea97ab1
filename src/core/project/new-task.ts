/** What a task begins with, beside what it is asked to be: what its project says of it. Pure. */
import type { Registry } from '../author/definition.ts';
import type { ManifestDefinition } from '../author/manifest.ts';
import type { KnowledgeRequirement } from '../task/knowledge.ts';
import type { AgentTaskSpec } from '../task/spec.ts';

/** The first one, by name, that says that this task runs it. */
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
  /** Nothing is required where it is `over`: the loop begins at once. */
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
