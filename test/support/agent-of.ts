/** A project of one agent and one prompt, for tests of the requests that a model receives. */
import type { ProviderMessage } from '../../src/core/message/provider.ts';
import { defineAgent, defineModel, definePrompt, registryFrom } from '../../src/definitions/index.ts';
import type { ScriptedModel } from '../../src/testing/index.ts';
import type { RuntimeOptions } from './runtime.ts';

type ModelInput = Parameters<typeof defineModel>[0];
type Tools = NonNullable<RuntimeOptions['tools']>;
type Hooks = NonNullable<Parameters<typeof registryFrom>[0]['hooks']>;

/** One agent and one prompt. The prompt uses the first model; the others are its fallbacks. */
export function agentOf(
  models: Record<string, Partial<ModelInput> & { script: ScriptedModel }>,
  prompt: Partial<Parameters<typeof definePrompt>[0]> = {},
  tools: Tools = {},
  hooks: Hooks = [],
) {
  const [first = '', ...fallbacks] = Object.keys(models);
  return registryFrom({
    agents: [
      defineAgent({ name: 'helper', sideA: { prompt: 'main' }, hooks: hooks.map(({ name }) => name) }),
    ],
    prompts: [
      definePrompt({
        name: 'main',
        toolDescription: 'main',
        model: first,
        prompt: 'You help.',
        includeChat: true,
        includePastTools: true,
        tools: Object.keys(tools),
        ...prompt,
      }),
    ],
    models: Object.entries(models).map(([name, { script, ...rest }]) =>
      defineModel({
        name,
        provider: script.provider,
        model: name,
        ...(name === first ? { fallbacks } : {}),
        ...rest,
      }),
    ),
    tools,
    hooks,
  });
}

/** The messages of one of a model's requests, numbered from 0. */
export const sent = (model: ScriptedModel, request: number): readonly ProviderMessage[] =>
  model.requests[request]?.messages ?? [];
export const roles = (messages: readonly ProviderMessage[]) => messages.map(({ role }) => role);
