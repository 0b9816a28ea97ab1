/** ThreadState's loaders (definitions §14.4): definitions of the project, by name. */
import type { Registry } from '../../core/author/registry.ts';
import type { ThreadLoaders } from '../../core/author/thread-state.ts';
import { asWritten } from '../../core/author/written-definition.ts';
import { RuntimeError } from '../../core/value/error.ts';

export function createLoaders(registry: Registry): ThreadLoaders {
  const { models, prompts, agents } = registry;
  return {
    loadModel: async (name) => asWritten(find('model', models, name)),
    loadPrompt: async (name) => asWritten(find('prompt', prompts, name)),
    loadAgent: async (name) => asWritten(find('agent', agents, name)),
    getModelNames: () => [...models.keys()],
    getPromptNames: () => [...prompts.keys()],
    getAgentNames: () => [...agents.keys()],
  };
}

function find<T>(what: string, known: ReadonlyMap<string, T>, name: string): T {
  const found = known.get(name);
  if (found !== undefined) return found;
  const names = [...known.keys()].map((each) => `"${each}"`).join(', ') || 'none';
  throw new RuntimeError(
    'DefinitionNotFound',
    `The project defines no ${what} "${String(name)}". It defines: ${names}.`,
  );
}
