/**
 * A parent "helper" with subagents, for tests of families. Each prompt has its own script, selected by the prompt's
 * text, because threads of a family run concurrently.
 */
import { z } from 'zod';
import type { Message } from '../../src/core/message/message.ts';
import type { SideInput } from '../../src/definitions/agent-input.ts';
import { type AgentInput, defineTool } from '../../src/definitions/index.ts';
import type { ChildRecord } from '../../src/store/family/family-record.ts';
import {
  fails,
  type RecordedRequest,
  type ScriptedModel,
  type ScriptStep,
  scriptedModel,
} from '../../src/testing/index.ts';
import { eventually } from './eventually.ts';
import { type PromptProject, promptProject } from './prompt-project.ts';
import { type RuntimeOptions, type TestRuntime, testRuntime } from './runtime.ts';

type Answer = ScriptStep | ((request: RecordedRequest) => ScriptStep);

/** Scripts by name of the prompt: its answers in order, whichever thread asks, or a function of the request. */
export type Scripts = Readonly<
  Record<string, readonly Answer[] | ((request: RecordedRequest) => ScriptStep)>
>;

export interface Cast {
  readonly model: ScriptedModel;
  /** Returns the requests of one prompt. */
  of(prompt: string): readonly RecordedRequest[];
}

export function cast(scripts: Scripts): Cast {
  const turns = new Map<string, number>();
  const model = scriptedModel((request) => {
    const name = whoIs(request);
    const script = scripts[name];
    if (typeof script === 'function') return script(request);
    const turn = turns.get(name) ?? 0;
    turns.set(name, turn + 1);
    const answer = script?.[turn];
    if (!answer) return fails({ status: 400, message: `"${name}" has no answer ${turn}` });
    return typeof answer === 'function' ? answer(request) : answer;
  });
  return { model, of: (prompt) => model.requests.filter((request) => whoIs(request) === prompt) };
}

function whoIs({ messages: [first] }: RecordedRequest): string {
  return /^You are (\w+)\./.exec(String(first?.content))?.[1] ?? '';
}

/** The names of the tools that a request offers. */
export function offered({ tools = [] }: RecordedRequest): string[] {
  return tools.map((tool) => (tool.type === 'function' ? tool.function.name : tool.type));
}

const CHAT = { includeChat: true, includePastTools: true };

const SESSION: Partial<SideInput> = {
  sessionStop: { name: 'finish', messageProperty: 'text', attachmentsProperty: 'files' },
  sessionFail: { name: 'give_up', messageProperty: 'why' },
  sessionStatus: { name: 'progress', messageProperty: 'at' },
};

export const SESSION_TOOLS = {
  finish: defineTool({
    description: 'hands in',
    args: z.object({ text: z.string(), files: z.union([z.string(), z.array(z.string())]).optional() }),
    execute: async () => ({ status: 'success', result: 'handed in' }),
  }),
  give_up: defineTool({
    description: 'gives up',
    args: z.object({ why: z.string() }),
    execute: async () => ({ status: 'success', result: 'given up' }),
  }),
  progress: defineTool({
    description: 'tells how far it is',
    args: z.object({ at: z.string() }),
    execute: async () => ({ status: 'success', result: 'told' }),
  }),
  keep: defineTool({
    description: 'keeps a note as a file',
    args: z.object({ name: z.string(), text: z.string().default('a note') }),
    execute: async (state, { name, text }) => {
      await state.writeFile(`/attachments/${name}`, text, 'text/plain');
      return { status: 'success', result: `kept ${name}` };
    },
  }),
};

export interface FamilyOptions extends Omit<Partial<PromptProject>, 'agents' | 'model'> {
  readonly cast: Cast;
  /** Tool entries of the helper's prompt, in addition to the tool `keep`. */
  readonly entries?: readonly unknown[];
  /** Subagents by name. Each has the prompts "<name>_a" and "<name>_b", and the session tools on both sides. */
  readonly agents?: Readonly<Record<string, Partial<AgentInput>>>;
  readonly runtime?: Partial<RuntimeOptions>;
}

export async function familyRuntime({ runtime, ...project }: FamilyOptions): Promise<TestRuntime> {
  return testRuntime({ model: project.cast.model, registry: familyRegistry(project), ...runtime });
}

export function familyRegistry(options: Omit<FamilyOptions, 'runtime'>) {
  const { cast: actors, entries = [], agents = { scout: {} }, prompts = {}, main, tools, ...more } = options;
  const names = Object.keys(agents);
  const childTools = Object.keys(SESSION_TOOLS);
  return promptProject({
    model: actors.model,
    main: { tools: [...entries, 'keep'] as never, ...main },
    prompts: {
      ...Object.fromEntries(
        names.flatMap((name) =>
          ['a', 'b'].map((side) => [`${name}_${side}`, { ...CHAT, tools: childTools }]),
        ),
      ),
      ...prompts,
    },
    agents: Object.fromEntries(names.map((name) => [name, toAgent(name, agents[name])])),
    tools: { ...SESSION_TOOLS, ...tools },
    ...more,
  });
}

function toAgent(name: string, { sideA, sideB, ...fields }: Partial<AgentInput> = {}): Partial<AgentInput> {
  return {
    type: 'dual_ai',
    exposeAsTool: true,
    toolDescription: `does what a ${name} does`,
    sideA: { prompt: `${name}_a`, ...SESSION, ...sideA },
    sideB: { prompt: `${name}_b`, ...SESSION, ...sideB },
    ...fields,
  };
}

/** A resumable subagent whose side A receives the parent's messages. */
export const RESUMABLE = { resumable: { receives_messages: 'side_a' } } as const;

export const create = (message: string, more: object = {}) => ({
  agent: 'scout',
  message,
  attachments: [],
  name: `about ${message}`,
  ...more,
});

export async function childrenOf({ store }: TestRuntime, thread: string): Promise<readonly ChildRecord[]> {
  return store.children.list(thread);
}

/** Waits until the thread has `reports` report messages and is at rest; returns them. */
export async function settled(
  runtime: TestRuntime,
  thread: string,
  reports = 1,
): Promise<readonly Message[]> {
  await eventually(`${reports} reports`, async () => (await reportsIn(runtime, thread)).length >= reports);
  await runtime.client.waitForIdle(thread);
  return reportsIn(runtime, thread);
}

/** Waits until the thread is terminated. */
export async function ended({ store }: TestRuntime, thread: string): Promise<void> {
  await eventually(
    'the end of the thread',
    async () => (await store.threads.get(thread))?.terminatedAt != null,
  );
}

/** Returns the thread's messages from its children, tool results excepted. */
export async function reportsIn(runtime: TestRuntime, thread: string): Promise<readonly Message[]> {
  const messages = await runtime.messages(thread);
  return messages.filter(({ role, metadata }) => role !== 'tool' && metadata.subagent_id !== undefined);
}

/** Returns the message of the thread's last tool result. */
export async function lastResult(runtime: TestRuntime, thread: string): Promise<Message | undefined> {
  return (await runtime.messages(thread)).findLast(({ role }) => role === 'tool');
}

/** A tool that waits until it is released. */
export function heldTool() {
  const held = Promise.withResolvers<void>();
  const wait = defineTool({
    description: 'waits',
    execute: async () => {
      await held.promise;
      return { status: 'success', result: 'waited' };
    },
  });
  return { wait, release: () => held.resolve() };
}
