/** Which hooks run (definitions §9): those that the active prompt lists, where it lists any, else those of the agent. */

import type { PromptDefinition, Registry } from '../../core/author/definition.ts';
import type { HookDefinition, HookName } from '../../core/author/hook.ts';
import { findActiveSide } from '../../core/project/active-side.ts';
import type { ThreadRecord } from '../../store/port/thread.ts';

/** In their order. `prompt` is the active one; that of the side which acts, or is to act, where absent. */
export function listHooks(
  registry: Registry,
  { agent, session }: Pick<ThreadRecord, 'agent' | 'session'>,
  prompt?: PromptDefinition,
): HookDefinition[] {
  const own = (prompt ?? findActiveSide(registry, agent, session.side)?.prompt)?.hooks ?? [];
  const ids = own.length > 0 ? own : (registry.agents.get(agent)?.hooks ?? []);
  return ids.map((id) => registry.hooks.get(id)).filter((hook) => hook !== undefined);
}

/** Whether the project has a hook of these kinds at all: what may be asked before anything is read. */
export function definesHook({ hooks }: Registry, ...names: readonly HookName[]): boolean {
  if (hooks.size === 0) return false;
  return [...hooks.values()].some(({ hook }) => names.includes(hook));
}
