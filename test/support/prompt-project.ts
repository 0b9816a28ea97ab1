/**
 * A project with several prompts and agents, for tests of sub-prompts and handoffs. All prompts use one scripted model.
 */
import { z } from 'zod';
import type { HookDefinition } from '../../src/core/author/hook.ts';
import type { Registry } from '../../src/core/author/registry.ts';
import type { Message } from '../../src/core/message/message.ts';
import {
  type AgentInput,
  defineAgent,
  defineModel,
  definePrompt,
  defineTool,
  registryFrom,
} from '../../src/definitions/index.ts';
import type { RecordedRequest, ScriptedModel } from '../../src/testing/index.ts';
import { type TestRuntime, testRuntime } from './runtime.ts';

/** Arguments of a prompt, one of them with a default. */
export const TOPIC = z.object({ topic: z.string(), depth: z.number().default(3) });

export const echo = defineTool({
  description: 'says it',
  args: z.object({ text: z.string() }),
  execute: async (_state, { text }) => ({ status: 'success', result: `echo ${text}` }),
});
export const explode = defineTool({
  description: 'fails',
  execute: async () => ({ status: 'error', error: 'boom' }),
});

type PromptFields = Partial<Parameters<typeof definePrompt>[0]>;

export interface PromptProject {
  readonly model: ScriptedModel;
  /** Fields of the prompt "main" of the agent "helper"; it includes the chat by default. */
  readonly main: PromptFields;
  /** More prompts, by name; by default they include no chat and no tool results. */
  readonly prompts?: Readonly<Record<string, PromptFields>>;
  /** More agents, by name; the prompt of "clerk" is "clerk_desk". */
  readonly agents?: Readonly<Record<string, Partial<AgentInput>>>;
  readonly side?: Partial<AgentInput['sideA']>;
  /** Policy of "helper". */
  readonly policy?: AgentInput['policy'];
  /** Guards of "helper". */
  readonly guards?: AgentInput['guards'];
  readonly tools?: Parameters<typeof registryFrom>[0]['tools'];
  readonly effects?: Parameters<typeof registryFrom>[0]['effects'];
  readonly hooks?: readonly HookDefinition[];
}

const CHAT = { includeChat: true, includePastTools: true };

export function promptProject({
  model,
  main,
  prompts = {},
  agents = {},
  side,
  policy,
  guards,
  tools = {},
  effects = {},
  hooks = [],
}: PromptProject): Registry {
  const prompt = (name: string, fields: PromptFields) =>
    definePrompt({
      name,
      toolDescription: `the prompt ${name}`,
      prompt: `You are ${name}.`,
      model: 'scripted',
      ...fields,
    });
  return registryFrom({
    agents: [
      defineAgent({ name: 'helper', sideA: { prompt: 'main', ...side }, policy, guards }),
      ...Object.entries(agents).map(([name, fields]) =>
        defineAgent({ name, sideA: { prompt: `${name}_desk` }, ...fields } as AgentInput),
      ),
    ],
    prompts: [
      prompt('main', { ...CHAT, ...main }),
      ...Object.entries(prompts).map(([name, fields]) => prompt(name, fields)),
    ],
    models: [defineModel({ name: 'scripted', provider: model.provider, model: 'scripted-1' })],
    tools,
    effects,
    hooks,
  });
}

/** Returns the messages of a request as `role: content`, with the names of their calls. */
export function told({ messages }: RecordedRequest): string[] {
  return messages.map((message) => {
    const calls =
      message.role === 'assistant' ? (message.toolCalls ?? []).map(({ name }) => ` -> ${name}`) : [];
    const text = typeof message.content === 'string' ? message.content : JSON.stringify(message.content);
    return `${message.role}: ${message.content === null ? '' : text}${calls.join('')}`;
  });
}

/** A runtime whose main prompt may call the prompt "consult", whose argument `topic` becomes its first message. */
export async function consulting(
  model: ScriptedModel,
  { entry = {}, consult = {}, ...more }: Partial<PromptProject> & { entry?: object; consult?: object } = {},
): Promise<TestRuntime> {
  const project = promptProject({
    model,
    main: { tools: [{ name: 'consult', initUserMessageProperty: 'topic', ...entry }] },
    ...more,
    prompts: {
      consult: {
        requiredSchema: z.object({ topic: z.string() }),
        tools: Object.keys(more.tools ?? {}),
        ...consult,
      },
      ...more.prompts,
    },
  });
  return testRuntime({ model, registry: project });
}

/** Returns the messages of sub-prompts of a thread, at any depth. */
export async function deep({ store }: TestRuntime, thread: string): Promise<readonly Message[]> {
  const { messages } = await store.messages.list(thread, { maxDepth: 9, includeSilent: true, limit: 1000 });
  return messages.filter(({ depth }) => depth > 0);
}

/** Returns the transcript line of the thread's last tool result. */
export async function resultOf(runtime: TestRuntime, thread: string): Promise<string> {
  const lines = await runtime.transcript(thread);
  return lines.findLast((line) => line.startsWith('tool ')) ?? '';
}
