/**
 * Stages: which agents a call of a subagent may address (runtime §3.3, §7.3). A model or a signal may address the
 * enabled subagents of the active prompt. Code may address those of either side's prompt, and any other `dual_ai`
 * agent, with the defaults of an entry.
 */

import { go } from '../../author/policy/gate.ts';
import { refuseCall } from '../../author/tool/check-arguments.ts';
import type { PromptDefinition } from '../../core/author/definition.ts';
import type { Registry } from '../../core/author/registry.ts';
import { findActivePrompt, findActiveSide } from '../../core/project/active-side.ts';
import {
  findSubagent,
  listSubagents,
  SUBAGENT_CREATE,
  type Subagent,
  toSubagent,
} from '../../core/project/subagent.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { enabledSubagents } from '../model/immediate-subagents.ts';
import type { ResumableCall } from '../tool/resumable-call.ts';
import type { KnownCall } from '../tool-gate/call-info.ts';
import { refuseUnlisted } from '../tool-gate/resolve-call.ts';

/** What each stage of a subagent's call receives. */
export interface SubagentCall extends KnownCall {
  readonly call: ResumableCall;
}

export interface ResolvedCall extends SubagentCall {
  readonly subagent: Subagent;
}

/** Stage: a call by the agent's own name. */
export async function resolveOwnCallee(ports: ActivityDependencies, { call: { begun } }: SubagentCall) {
  const { name, origin } = begun.call;
  const found = await findAmong(ports, begun, name);
  if (!found) return refuseCall(refuseUnlisted(begun.call, undefined) ?? `Tool not found: ${name}`);
  if (typeof found === 'string') return refuseCall(`${name}: ${found}.`);
  if (!found.resumable || origin === 'code') return go({ subagent: found });
  return refuseCall(
    `${name}: this subagent is not called by its name: create one with ${SUBAGENT_CREATE}, agent "${name}", or message one that you have created with subagent_message.`,
  );
}

/** Stage: the agent that `subagent_create` names. */
export async function resolveNamedCallee(
  ports: ActivityDependencies,
  {
    call: { begun },
    fields: { agent: name },
  }: SubagentCall & { readonly fields: { readonly agent: string } },
) {
  const found = await findAmong(ports, begun, name);
  if (typeof found === 'string') return refuseCall(`${SUBAGENT_CREATE}: ${found}.`);
  if (found && (found.resumable || begun.call.origin === 'code')) return go({ subagent: found });
  const prompt = findActivePrompt(ports.registry(), begun.thread.agent, begun);
  const enabled = prompt ? await enabledSubagents(ports, begun.thread, prompt) : [];
  const names = enabled.filter(({ resumable }) => resumable).map(({ agent }) => `"${agent.name}"`);
  if (names.length === 0) return refuseCall(`Tool "${SUBAGENT_CREATE}" is not available to this prompt.`);
  return refuseCall(
    `${SUBAGENT_CREATE}: "agent" must be one of ${names.join(', ')}, not ${JSON.stringify(name.slice(0, 100))}.`,
  );
}

/**
 * Returns the subagent, or the reason why it may not be called or messaged now; undefined if there is none of that
 * name.
 */
export async function findAmong(
  dependencies: ActivityDependencies,
  { thread, call, ...place }: ResumableCall['begun'],
  name: string,
): Promise<Subagent | string | undefined> {
  const registry = dependencies.registry();
  const active = findActivePrompt(registry, thread.agent, place);
  const others = call.origin === 'code' ? promptsOf(registry, thread.agent) : [];
  let reason: string | undefined;
  for (const prompt of new Set([active, ...others])) {
    const listed = prompt && listSubagents(registry, prompt).find(({ agent }) => agent.name === name);
    if (!listed) continue;
    const enabled = await enabledSubagents(dependencies, thread, prompt);
    const found = enabled.find(({ agent }) => agent.name === name);
    if (found) return found;
    reason ??= `"${name}" is not enabled, because the variable "${listed.optional}" is neither true, 1 nor yes`;
  }
  if (reason !== undefined || call.origin !== 'code' || !findSubagent(registry, name)) return reason;
  return toSubagent(registry, { name, env: {}, options: {}, extra: {} });
}

function promptsOf(registry: Registry, agent: string): (PromptDefinition | undefined)[] {
  return (['a', 'b'] as const).map((side) => findActiveSide(registry, agent, side)?.prompt);
}
