/** Valid definitions for tests to change: each takes the fields that the test is about. */

import type { ProviderFactory } from '../../src/core/message/provider.ts';
import {
  type AgentInput,
  defineAgent,
  defineModel,
  definePrompt,
  defineTool,
  isDefinitionError,
  type ModelInput,
  type PromptInput,
  type RegistryInput,
  type ToolArguments,
  type ToolInput,
} from '../../src/definitions/index.ts';

/** A backend that throws: no definition test may call it. */
export const provider: ProviderFactory = () => {
  throw new Error('Definitions are checked without asking a provider');
};

export const agentInput = (fields: object = {}): AgentInput => ({
  name: 'helper',
  sideA: { prompt: 'talk' },
  ...fields,
});

export const promptInput = (fields: object = {}): PromptInput => ({
  name: 'talk',
  toolDescription: 'Talks.',
  prompt: 'You talk.',
  model: 'fast',
  ...fields,
});

export const modelInput = (fields: object = {}): ModelInput => ({
  name: 'fast',
  provider,
  model: 'vendor/fast-1',
  ...fields,
});

export const toolInput = (fields: object = {}): ToolInput<ToolArguments | undefined> => ({
  description: 'Does it.',
  execute: async () => ({ status: 'success' }),
  ...fields,
});

export const agent = (fields: object = {}) => defineAgent(agentInput(fields));
export const prompt = (fields: object = {}) => definePrompt(promptInput(fields));
export const model = (fields: object = {}) => defineModel(modelInput(fields));
export const tool = (fields: object = {}) => defineTool(toolInput(fields));

/** A valid project: agent `helper`, prompt `talk`, model `fast`. */
export const project = (parts: RegistryInput = {}): RegistryInput => ({
  agents: [agent()],
  prompts: [prompt()],
  models: [model()],
  ...parts,
});

/** The problems that a define… function or registryFrom throws, as `field: message`. */
export function problemsOf(action: () => unknown): string[] {
  try {
    action();
  } catch (error) {
    if (!isDefinitionError(error)) throw error;
    return error.problems.map(({ field, message }) => `${field}: ${message}`);
  }
  return [];
}
