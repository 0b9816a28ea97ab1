/**
 * Which hooks run (definitions §9): those that the active prompt lists, where it lists any, else those of the agent. Those of a higher priority
 * come first; within one, the order is that of the list.
 */

import type { PromptDefinition, Registry } from '../../core/author/definition.ts';
import type { HookDefinition, HookName } from '../../core/author/hook.ts';
import { findActiveSide } from '../../core/project/active-side.ts';
import type { ThreadRecord } from '../../store/port/thread.ts';

/** In the order in which they run. `prompt` is the active one; that of the side which acts, or is to act, where absent. */
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

/** Whether such a hook may run for calls of the agent: it lists one, or some prompt does. */
export function mayRunHook(registry: Registry, agent: string, name: HookName): boolean {
  if (!definesHook(registry, name)) return false;
  const lists = [registry.agents.get(agent), ...registry.prompts.values()];
  return lists.some((list) => list?.hooks.some((id) => registry.hooks.get(id)?.hook === name));
}

/** Whether the project has a hook of these kinds at all: what may be asked before anything is read. */
export function definesHook({ hooks }: Registry, ...names: readonly HookName[]): boolean {
  if (hooks.size === 0) return false;
  return [...hooks.values()].some(({ hook }) => names.includes(hook));
}
