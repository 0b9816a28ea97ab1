/** A project with one agent "helper", for tests of its hooks. */
import type { PromptDefinition } from '../../src/core/author/definition.ts';
import type { HookDefinition, HookName, HookSignatures } from '../../src/core/author/hook.ts';
import type { Registry } from '../../src/core/author/registry.ts';
import {
  type AgentInput,
  defineAgent,
  defineHook,
  defineModel,
  definePrompt,
  type PromptInput,
  type RegistryInput,
  registryFrom,
} from '../../src/definitions/index.ts';
import type { ScriptedModel } from '../../src/testing/index.ts';
import { type RuntimeOptions, type TestRuntime, testRuntime } from './runtime.ts';

/** Hook bodies by hook name: one, or several in order. */
export type Hooks = { readonly [Name in HookName]?: HookSignatures[Name] | readonly HookSignatures[Name][] };

export interface HookProject {
  readonly model: ScriptedModel;
  readonly hooks: Hooks | readonly HookDefinition[];
  readonly tools?: RuntimeOptions['tools'];
  readonly agent?: Partial<AgentInput>;
  readonly prompt?: Partial<PromptInput>;
  readonly side?: RuntimeOptions['side'];
  readonly prompts?: readonly PromptDefinition[];
  readonly effects?: RegistryInput['effects'];
  readonly endpoints?: RegistryInput['endpoints'];
  readonly options?: Partial<RuntimeOptions>;
}

/** Converts hook bodies to definitions with the ids `<kind>_<n>`, n from 1. */
export function toHooks(hooks: Hooks): HookDefinition[] {
  return Object.entries(hooks).flatMap(([name, bodies]) =>
    [bodies]
      .flat()
      .map((execute, index) =>
        defineHook({ hook: name as HookName, id: `${name}_${index + 1}`, execute: execute as never }),
      ),
  );
}

export function hookRegistry({
  model,
  hooks,
  tools = {},
  agent,
  prompt,
  prompts = [],
  side,
  effects,
  endpoints,
}: HookProject): Registry {
  const listed = Array.isArray(hooks) ? (hooks as readonly HookDefinition[]) : toHooks(hooks as Hooks);
  return registryFrom({
    agents: [
      defineAgent({
        name: 'helper',
        sideA: { prompt: 'main', ...side },
        hooks: listed.map(({ name }) => name),
        ...agent,
      } as AgentInput),
    ],
    prompts: [
      definePrompt({
        name: 'main',
        toolDescription: 'the main prompt',
        prompt: 'You help.',
        model: 'scripted',
        includeChat: true,
        includePastTools: true,
        tools: Object.keys(tools),
        ...prompt,
      }),
      ...prompts,
    ],
    models: [defineModel({ name: 'scripted', provider: model.provider, model: 'scripted-1' })],
    tools,
    effects,
    endpoints,
    hooks: listed,
  });
}

export async function hookRuntime(project: HookProject): Promise<TestRuntime> {
  return testRuntime({ model: project.model, registry: hookRegistry(project), ...project.options });
}

/** Returns the failures of hooks in the log, as `id: error`. */
export async function hookFailures({ store }: TestRuntime, threadId: string): Promise<string[]> {
  const events = await store.events.read(threadId, 0);
  return events
    .filter((event) => event.type === 'hook.failed')
    .map(({ data }) => `${data.id}: ${data.error}`);
}
