/**
 * Subagents (runtime §7, definitions §13): the entry of a `dual_ai` agent in a prompt's `tools`, with its defaults. Pure.
 */
import type { AgentDefinition, PromptDefinition, PromptToolEntry } from '../author/definition.ts';
import type { Registry } from '../author/registry.ts';
import type { Side } from '../author/thread-execution.ts';
import { LIMITS } from '../value/limit.ts';
import { findCallee } from './callee.ts';

/** Built-in tools by which a model creates a child of a resumable agent, and sends one a message. */
export const SUBAGENT_CREATE = 'subagent_create';
export const SUBAGENT_MESSAGE = 'subagent_message';

/** Text of a message that is required but has no content. */
export const FIRST_WORD = 'Begin.';

/** A name for display, with white space collapsed. Null if nothing remains. */
export function toThreadName(text: string): string | null {
  const collapsed = text.replace(/\s+/gu, ' ').trim();
  return [...collapsed].slice(0, LIMITS.threadNameChars).join('').trim() || null;
}

/** Id that all children made by one step share. Null if the child was not made by a call of a step. */
export function spawnGroupOf(parentId: string, madeStep: number | null): string | null {
  return madeStep === null ? null : `${parentId}:${madeStep}`;
}

export interface ImmediateHints {
  readonly nameEnv?: string;
  readonly descriptionEnv?: string;
  readonly scopedEnv: readonly string[];
  /** Parent's variables that the child's prompts may show (runtime §7.4): the two above. Absent in the short form. */
  readonly promoted?: readonly string[];
}

/** One relationship of a prompt to an agent (definitions §13.1). */
export interface Subagent {
  readonly entry: PromptToolEntry;
  readonly agent: AgentDefinition;
  readonly blocking: boolean;
  /** The variable that enables the subagent, with the value true, 1 or yes. */
  readonly optional?: string;
  /** Undefined if the child is made only by a call. */
  readonly immediate?: ImmediateHints;
  /** False: the child ends with its report. */
  readonly resumable: boolean;
  /** The side of the child that answers its parent. */
  readonly hears: Side;
  readonly maxInstances?: number;
  /** True if the child reports by its own calls: nothing is sent to the parent automatically. */
  readonly explicit: boolean;
  readonly initUserMessageProperty?: string;
  readonly initAttachmentsProperty?: string;
  readonly initAgentNameProperty?: string;
}

interface Extra {
  readonly blocking?: boolean;
  readonly optional?: string;
  readonly immediate?: boolean | (Partial<ImmediateHints> & { readonly scopedEnv?: readonly string[] });
  readonly resumable?:
    | false
    | {
        readonly receives_messages: 'side_a' | 'side_b';
        readonly maxInstances?: number;
        readonly parentCommunication?: 'implicit' | 'explicit';
      };
  readonly initUserMessageProperty?: string;
  readonly initAttachmentsProperty?: string;
  readonly initAgentNameProperty?: string;
}

/** In the order of the prompt's entries. An agent is a subagent if a call of its name resolves to it (`callee.ts`). */
export function listSubagents(registry: Registry, prompt: PromptDefinition): Subagent[] {
  return prompt.tools.flatMap((entry) => toSubagent(registry, entry) ?? []);
}

/** Undefined if the entry is not a subagent. */
export function toSubagent(registry: Registry, entry: PromptToolEntry): Subagent | undefined {
  const agent = findSubagent(registry, entry.name);
  if (!agent) return undefined;
  const { blocking = true, optional, immediate, resumable = false, ...init } = entry.extra as Extra;
  const { receives_messages: receives, maxInstances, parentCommunication } = resumable || {};
  return {
    entry,
    agent,
    blocking,
    optional,
    immediate: toHints(immediate),
    resumable: resumable !== false,
    hears: receives === 'side_b' ? 'b' : 'a',
    maxInstances,
    explicit: parentCommunication === 'explicit',
    initUserMessageProperty: init.initUserMessageProperty,
    initAttachmentsProperty: init.initAttachmentsProperty,
    initAgentNameProperty: init.initAgentNameProperty,
  };
}

/** Returns the agent whose child a call of this name makes; undefined if it makes none. */
export function findSubagent(registry: Registry, name: string): AgentDefinition | undefined {
  const callee = findCallee(registry, name);
  return callee?.kind === 'agent' && callee.type === 'dual_ai' ? callee : undefined;
}

/**
 * True if a call of this name is dispatched as `child`: a call of a subagent, or one that starts a task. A tool or
 * prompt of the project that has one of the built-in names takes precedence.
 */
export function isSubagentCall(registry: Registry, name: string): boolean {
  const callee = findCallee(registry, name);
  if (callee === undefined) return name === SUBAGENT_CREATE || name === SUBAGENT_MESSAGE;
  if (callee.kind === 'tool') return callee.startsTask !== undefined;
  return callee.kind === 'agent' && callee.type === 'dual_ai';
}

/** The prompt whose `requiredSchema` a child's arguments must fit: that of the side `hears` (definitions §22.20). */
export function childPrompt(registry: Registry, { agent, hears }: Subagent): PromptDefinition | undefined {
  const side = hears === 'b' ? (agent.sideB ?? agent.sideA) : agent.sideA;
  return registry.prompts.get(side.prompt);
}

/** runtime §7.3: `true`, `1` or `yes`, in any case. */
export function isTruthy(value: string | undefined): boolean {
  return value !== undefined && ['true', '1', 'yes'].includes(value.trim().toLowerCase());
}

function toHints(immediate: Extra['immediate']): ImmediateHints | undefined {
  if (!immediate) return undefined;
  if (immediate === true) return { scopedEnv: [] };
  const { nameEnv, descriptionEnv, scopedEnv = [] } = immediate;
  const promoted = [nameEnv, descriptionEnv].filter((name) => name !== undefined);
  return { nameEnv, descriptionEnv, scopedEnv, promoted };
}
