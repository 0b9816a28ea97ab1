/**
 * Selects the hooks that run (definitions §9): those that the active prompt lists, or those of the agent if it lists
 * none. Hooks with a higher priority come first; those with equal priority are in the order of the list.
 */

import type { PromptDefinition } from '../../core/author/definition.ts';
import type { HookDefinition, HookName } from '../../core/author/hook.ts';
import type { Registry } from '../../core/author/registry.ts';
import { findActiveSide } from '../../core/project/active-side.ts';
import type { ThreadRecord } from '../../store/thread/thread-record.ts';

/** Returns hooks in the order in which they run. `prompt`: the active one; default that of the side that acts next. */
export function listHooks(
  registry: Registry,
  { agent, session }: Pick<ThreadRecord, 'agent' | 'session'>,
  prompt?: PromptDefinition,
): HookDefinition[] {
  const own = (prompt ?? findActiveSide(registry, agent, session.side)?.prompt)?.hooks ?? [];
  const ids = own.length > 0 ? own : (registry.agents.get(agent)?.hooks ?? []);
  const hooks = ids.map((id) => registry.hooks.get(id)).filter((hook) => hook !== undefined);
  return hooks.sort((a, b) => (b.priority ?? 0) - (a.priority ?? 0));
}

/** True if such a hook may run for calls of the agent: the agent, or any prompt, lists one. */
export function mayRunHook(registry: Registry, agent: string, name: HookName): boolean {
  if (!definesHook(registry, name)) return false;
  const lists = [registry.agents.get(agent), ...registry.prompts.values()];
  return lists.some((list) => list?.hooks.some((id) => registry.hooks.get(id)?.hook === name));
}

/** True if the project has a hook of one of these kinds. Reads nothing from the store. */
export function definesHook({ hooks }: Registry, ...names: readonly HookName[]): boolean {
  if (hooks.size === 0) return false;
  return [...hooks.values()].some(({ hook }) => names.includes(hook));
}
