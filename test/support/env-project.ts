/**
 * A project with one agent "helper", for tests of variables. A tool is given as its body; all other parts can be set
 * too.
 */
import type { Registry } from '../../src/core/author/registry.ts';
import type { ThreadState } from '../../src/core/author/thread-state.ts';
import type { ToolResult } from '../../src/core/message/message.ts';
import {
  type AgentInput,
  defineAgent,
  defineModel,
  definePrompt,
  defineTool,
  type PromptInput,
  registryFrom,
  type VariableInput,
} from '../../src/definitions/index.ts';
import type { ScriptedModel } from '../../src/testing/index.ts';
import { type TestRuntime, testRuntime } from './runtime.ts';

export type ToolBody = (state: ThreadState) => Promise<ToolResult | string> | ToolResult | string;

export interface EnvProject {
  readonly model: ScriptedModel;
  readonly agent?: Partial<AgentInput>;
  /** Fields of the prompt; it has all tools of the project unless this says otherwise. */
  readonly prompt?: Partial<PromptInput>;
  readonly tools?: Readonly<Record<string, ToolBody>>;
  /** Variables of tools, by tool name. */
  readonly variables?: Readonly<Record<string, VariableInput[]>>;
}

export function envRegistry({ model, agent, prompt, tools = {}, variables = {} }: EnvProject): Registry {
  const main = { name: 'main', toolDescription: 'the main prompt', model: 'scripted', prompt: 'You help.' };
  const side = { sideA: { prompt: 'main' } };
  return registryFrom({
    agents: [defineAgent({ name: 'helper', ...side, ...agent } as AgentInput)],
    prompts: [
      definePrompt({
        ...main,
        includeChat: true,
        includePastTools: true,
        tools: Object.keys(tools),
        ...prompt,
      }),
    ],
    models: [defineModel({ name: 'scripted', provider: model.provider, model: 'scripted-1' })],
    tools: Object.fromEntries(
      Object.entries(tools).map(([name, execute]) => [
        name,
        defineTool({ description: name, variables: variables[name], execute: execute as never }),
      ]),
    ),
  });
}

export async function envRuntime(
  project: EnvProject,
  options: Parameters<typeof testRuntime>[0] = {},
): Promise<TestRuntime> {
  return testRuntime({ model: project.model, registry: envRegistry(project), ...options });
}

/** The contents of the thread's tool results, in order. */
export async function toolResults(runtime: TestRuntime, threadId: string): Promise<(string | null)[]> {
  const messages = await runtime.messages(threadId);
  return messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
}

/** Starts a thread with the message "go" and waits until it is at rest. */
export async function startedThread({ client }: TestRuntime, userId?: string): Promise<string> {
  const { threadId } = await client.startThread({
    agent: 'helper',
    userId,
    messages: [{ content: 'go' }],
  });
  await client.waitForIdle(threadId);
  return threadId;
}
