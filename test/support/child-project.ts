/**
 * Projects with the agent "helper", whose prompt lists subagents. A child hands in its result with the tool "finish".
 * All prompts use one model, which answers by the prompt that the request comes from.
 */
import { z } from 'zod';
import type { Registry } from '../../src/core/author/registry.ts';
import { REPORT_START } from '../../src/core/thread/subagent-report.ts';
import { type AgentInput, defineTool, type ToolEntryInput } from '../../src/definitions/index.ts';
import {
  calls,
  type RecordedRequest,
  type ScriptStep,
  says,
  scriptedModel,
} from '../../src/testing/index.ts';
import { type PromptProject, promptProject } from './prompt-project.ts';

export type Answer = (request: RecordedRequest) => ScriptStep | Promise<ScriptStep>;

/** Name of the prompt that a request comes from. */
export function askedBy({ messages: [first] }: RecordedRequest): string {
  return /^You are (\w+)\./.exec(String(first?.content))?.[1] ?? '';
}

/** A model with a separate script for each prompt; prompts that are not listed get `otherwise`, "done" by default. */
export function modelOf(answers: Readonly<Record<string, Answer>>, otherwise: Answer = () => says('done')) {
  return scriptedModel((request) => (answers[askedBy(request)] ?? otherwise)(request));
}

/**
 * Returns the last user message of a request: the prompt's input. A child's report that came beside it, before the
 * model was asked, is passed over.
 */
export function lastTold({ messages }: RecordedRequest): string {
  const unanswered = messages.slice(messages.findLastIndex(({ role }) => role !== 'user') + 1);
  const found =
    unanswered.findLast(({ content }) => !REPORT_START.test(String(content))) ??
    messages.findLast(({ role }) => role === 'user');
  return typeof found?.content === 'string' ? found.content : JSON.stringify(found?.content);
}

/** True if the last message of the request is a tool result. */
export function hasResult({ messages }: RecordedRequest): boolean {
  return messages.at(-1)?.role === 'tool';
}

export const handsIn = (text: string): ScriptStep => calls('finish', { text });

const finish = defineTool({
  description: 'hands in',
  args: z.object({ text: z.string() }),
  execute: async () => ({ status: 'success', result: 'handed in' }),
});

export interface ChildProject extends Omit<PromptProject, 'main'> {
  readonly entries: readonly ToolEntryInput[];
  /** Subagents by name. Side A of "scribe" has the prompt "scribe_desk", with the tool "finish" and those of `desk`. */
  readonly children: Readonly<
    Record<string, { readonly agent?: Partial<AgentInput>; readonly desk?: PromptProject['main'] }>
  >;
  readonly main?: PromptProject['main'];
}

export function childProject({
  entries,
  children,
  main,
  prompts,
  agents,
  tools,
  ...more
}: ChildProject): Registry {
  const names = Object.keys(children);
  return promptProject({
    ...more,
    main: { tools: [...entries], ...main },
    tools: { finish, ...tools },
    prompts: {
      critic: { includeChat: true },
      ...Object.fromEntries(
        names.map((name) => [
          `${name}_desk`,
          {
            includeChat: true,
            includePastTools: true,
            ...children[name]?.desk,
            tools: ['finish', ...(children[name]?.desk?.tools ?? [])],
          },
        ]),
      ),
      ...prompts,
    },
    agents: {
      ...Object.fromEntries(names.map((name) => [name, subagent(name, children[name]?.agent)])),
      ...agents,
    },
  });
}

function subagent(name: string, fields: Partial<AgentInput> = {}): Partial<AgentInput> {
  return {
    type: 'dual_ai',
    exposeAsTool: true,
    toolDescription: `the subagent ${name}`,
    sideA: { prompt: `${name}_desk`, sessionStop: { name: 'finish', messageProperty: 'text' } },
    sideB: { prompt: 'critic' },
    maxSessionTurns: 6,
    ...fields,
  };
}
