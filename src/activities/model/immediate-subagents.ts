/**
 * Immediate subagents (runtime §7.3): calls that a side makes before the first model step of its prompt, whatever the
 * history holds. A child makes its own in the same way, down the family to `LIMITS.threadDepth`.
 * - Each entry enabled before the first model step of an agent's side is called once; none is called later. The store
 *   records which sides have made their calls. After a handoff the agent that gets the thread makes its own calls,
 *   even if it has had the thread before.
 * - Immediate calls are ordinary calls: validated, and stored with their result, which may be an error. Their origin
 *   is code.
 * - The id of an immediate call begins with a mark that no other call of code can have. So the call alone identifies
 *   it (`isImmediateCall`). The number of the previous step is part of the id: an agent that gets the thread back
 *   makes other calls. A sub-prompt makes its own at each of its calls.
 * - A project without immediate subagents pays nothing for them.
 */

import { readEnvPlace } from '../../author/state/env-place.ts';
import { createIds } from '../../author/state/id.ts';
import type { PromptDefinition } from '../../core/author/definition.ts';
import type { Registry } from '../../core/author/registry.ts';
import type { Side } from '../../core/author/thread-execution.ts';
import { findActiveSide, hasTwoSides } from '../../core/project/active-side.ts';
import { type EnvPlace, resolveVariable } from '../../core/project/env.ts';
import {
  FIRST_WORD,
  isTruthy,
  listSubagents,
  SUBAGENT_CREATE,
  type Subagent,
} from '../../core/project/subagent.ts';
import type { ToolItem } from '../../core/thread/item.ts';
import { isRuntimeError } from '../../core/value/error.ts';
import { LIMITS } from '../../core/value/limit.ts';
import type { BeginStep, ImmediateCalls } from '../../store/step/step-record.ts';
import type { ThreadRecord } from '../../store/thread/thread-record.ts';
import type { StoredToolCall } from '../../store/tool/tool-record.ts';
import type { FromRun } from '../../store/transaction/from-run.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';

type Sources = Pick<ActivityDependencies, 'store' | 'registry'>;

/**
 * Returns `BeginStep.immediate` for the agent that has the thread from this step on; undefined if no side of it makes
 * any.
 */
export async function immediateCalls(
  sources: Sources,
  command: FromRun & Pick<BeginStep, 'ordinal' | 'afterStep'>,
): Promise<BeginStep['immediate']> {
  const { store, registry } = sources;
  const agents = agentsWithImmediate(registry());
  if (agents.size === 0) return undefined;
  const { thread } = await store.queue.readPending({ ...command, items: [] });
  return agents.has(thread.agent) ? callsOf(sources, thread) : undefined;
}

async function callsOf(sources: Sources, thread: ThreadRecord): Promise<BeginStep['immediate']> {
  const calls: Partial<Record<Side, ImmediateCalls>> = {};
  for (const [side, prompt] of promptsOf(sources.registry(), thread.agent)) {
    if (!hasImmediate(sources.registry(), prompt)) continue;
    const { id, agent, lastStep } = thread;
    const tools = await itemsOf(
      sources,
      thread,
      prompt,
      (child) => `${id}:immediate:${agent}:${side}:${child}:${lastStep}`,
    );
    if (tools.length > 0) calls[side] = { key: `${thread.agent}:${side}`, tools };
  }
  return calls;
}

/** The calls of a sub-prompt, made at each call of it. Undefined if it lists none; `key` is the key of the call. */
export async function immediatePromptCalls(
  sources: Sources,
  thread: ThreadRecord,
  prompt: PromptDefinition,
  key: string,
): Promise<readonly ToolItem[] | undefined> {
  if (!hasImmediate(sources.registry(), prompt)) return undefined;
  return itemsOf(sources, thread, prompt, (child) => `${key}:immediate:${child}`);
}

async function itemsOf(
  sources: Sources,
  thread: ThreadRecord,
  prompt: PromptDefinition,
  keyOf: (child: string) => string,
): Promise<readonly ToolItem[]> {
  const enabled = await enabledSubagents(sources, thread, prompt);
  return enabled
    .filter(({ immediate }) => immediate)
    .map((subagent) => toItem(sources, subagent, keyOf(subagent.agent.name)));
}

function toItem({ store }: Pick<Sources, 'store'>, subagent: Subagent, key: string): ToolItem {
  const { agent, resumable } = subagent;
  const id = `${IMMEDIATE_PREFIX}${createIds(store, key)()}`;
  const call = resumable
    ? { name: SUBAGENT_CREATE, arguments: { agent: agent.name, ...defaultInput(subagent), attachments: [] } }
    : { name: agent.name, arguments: {} };
  return { kind: 'tool', id, ...call, origin: 'code' };
}

/** The default name and first message of a child. */
export function defaultInput({ agent }: Pick<Subagent, 'agent'>): { name: string; message: string } {
  return { name: (agent.title ?? agent.name).slice(0, LIMITS.threadNameChars), message: FIRST_WORD };
}

const IMMEDIATE_PREFIX = 'immediate_';

/**
 * Known by the mark. A tool that is queued by a signal has an id of the sender's choice, so the origin is checked
 * too.
 */
export function isImmediateCall({ callId, origin }: Pick<StoredToolCall, 'callId' | 'origin'>): boolean {
  return origin === 'code' && callId.startsWith(`queued_${IMMEDIATE_PREFIX}`);
}

const immediateAgents = new WeakMap<Registry, ReadonlySet<string>>();

/** Names of agents with a side that lists an immediate subagent; computed once per project. */
function agentsWithImmediate(registry: Registry): ReadonlySet<string> {
  const found =
    immediateAgents.get(registry) ?? new Set([...registry.agents.keys()].filter(listsImmediate(registry)));
  immediateAgents.set(registry, found);
  return found;
}

function listsImmediate(registry: Registry): (agent: string) => boolean {
  return (agent) => promptsOf(registry, agent).some(([, prompt]) => hasImmediate(registry, prompt));
}

function hasImmediate(registry: Registry, prompt: PromptDefinition): boolean {
  return listSubagents(registry, prompt).some(({ immediate }) => immediate !== undefined);
}

/** The prompts of the AI sides. */
function promptsOf(registry: Registry, agent: string): (readonly [Side, PromptDefinition])[] {
  const sides: readonly Side[] = hasTwoSides(registry.agents.get(agent)) ? ['a', 'b'] : ['a'];
  return sides.flatMap((side) => {
    const active = findActiveSide(registry, agent, side);
    return active ? [[side, active.prompt] as const] : [];
  });
}

/**
 * The subagents of a prompt that are enabled now (runtime §7.3), in the order of its entries. An entry with `optional`
 * is enabled while the variable that it names is true, 1 or yes, as the prompt's tools see it: this is checked before
 * the subagent is offered, and again before a call of it runs.
 */
export async function enabledSubagents(
  sources: Pick<ActivityDependencies, 'store' | 'registry'>,
  thread: ThreadRecord,
  prompt: PromptDefinition,
): Promise<readonly Subagent[]> {
  const subagents = listSubagents(sources.registry(), prompt);
  // Without `optional`, nothing is read.
  if (subagents.every(({ optional }) => optional === undefined)) return subagents;
  const place = await readEnvPlace(sources, thread, { prompt }).catch(toNothing);
  return subagents.filter(({ optional }) => optional === undefined || isOn(optional, place));
}

function isOn(flag: string, place: EnvPlace | undefined): boolean {
  return place !== undefined && isTruthy(resolveVariable(flag, place)?.value);
}

/** A variable that this worker cannot decrypt enables nothing; `step-env.ts` reports the error to people. */
function toNothing(error: unknown): undefined {
  if (!isRuntimeError(error, 'InvalidConfiguration')) throw error;
}
