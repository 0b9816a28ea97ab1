/** A project whose agent "helper" has two AI sides, each with a prompt and a scripted model of its own. */

import type { HookDefinition } from '../../src/core/author/hook.ts';
import type { Registry } from '../../src/core/author/registry.ts';
import {
  type AgentInput,
  defineAgent,
  defineModel,
  definePrompt,
  registryFrom,
} from '../../src/definitions/index.ts';
import type { ScriptedModel } from '../../src/testing/index.ts';
import { told } from './prompt-project.ts';
import { closeAfterTest, type RuntimeOptions, type TestRuntime, testRuntime } from './runtime.ts';

type PromptFields = Partial<Parameters<typeof definePrompt>[0]>;

export interface TwoSides {
  readonly a: ScriptedModel;
  readonly b: ScriptedModel;
  readonly sideA?: Partial<AgentInput['sideA']>;
  readonly sideB?: Partial<AgentInput['sideA']>;
  readonly agent?: Partial<AgentInput>;
  /** Tools by name; both sides may call all of them. */
  readonly tools?: RuntimeOptions['tools'];
  readonly promptA?: PromptFields;
  readonly promptB?: PromptFields;
  readonly hooks?: readonly HookDefinition[];
  readonly agents?: readonly ReturnType<typeof defineAgent>[];
  readonly options?: Omit<RuntimeOptions, 'model' | 'registry'>;
}

export function twoSidesProject({ a, b, tools = {}, hooks = [], agents = [], ...given }: TwoSides): Registry {
  const prompt = (name: string, fields: PromptFields = {}) =>
    definePrompt({
      name,
      toolDescription: name,
      prompt: `You are ${name}.`,
      model: name,
      includeChat: true,
      includePastTools: true,
      tools: Object.keys(tools),
      ...fields,
    });
  const model = (name: string, { provider }: ScriptedModel) =>
    defineModel({ name, provider, model: `scripted-${name}` });
  return registryFrom({
    agents: [
      defineAgent({
        name: 'helper',
        type: 'dual_ai',
        maxSessionTurns: 20,
        sideA: { prompt: 'writer', ...given.sideA },
        sideB: { prompt: 'critic', ...given.sideB },
        ...given.agent,
      }),
      ...agents,
    ],
    prompts: [prompt('writer', given.promptA), prompt('critic', given.promptB)],
    models: [model('writer', a), model('critic', b)],
    tools,
    hooks: [...hooks],
  });
}

/** Both scripts must be used up by the end of the test, unless they are functions. */
export async function twoSides(given: TwoSides): Promise<TestRuntime> {
  const runtime = await testRuntime({ ...given.options, registry: twoSidesProject(given) });
  closeAfterTest(async () => {
    for (const model of [given.a, given.b]) if (Number.isFinite(model.remaining)) model.assertConsumed();
  });
  return runtime;
}

/** Returns the messages of each request of a side, without the prompt. */
export const heard = ({ requests }: ScriptedModel): string[][] =>
  requests.map((request) => told(request).slice(1));
