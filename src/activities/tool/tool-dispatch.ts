/**
 * How the calls of a step are dispatched, according to the definitions of their callees. An unknown callee is quick:
 * its result is an error. A handoff is quick as well: it only names the next agent.
 */
import type { Registry, ToolDefinition } from '../../core/author/registry.ts';
import { findCallee } from '../../core/project/callee.ts';
import { isSubagentCall } from '../../core/project/subagent.ts';
import type { CallRef, DispatchMode, StepCalls } from '../../core/thread/step.ts';
import { LIMITS } from '../../core/value/limit.ts';

/** `names`: the names of all calls, in order; `parallel`: the indices of those that may be under way together. */
export function toStepCalls(
  registry: Registry,
  names: readonly string[],
  parallel: readonly number[] = [],
): StepCalls {
  const later = (is: (registry: Registry, name: string) => boolean, limit: number) =>
    names
      .flatMap((name, index) => (index >= LIMITS.namedCalls && is(registry, name) ? [index] : []))
      .slice(0, limit);
  const laterPrompts = later(isPrompt, LIMITS.laterPrompts);
  const laterChildren = later(isSubagentCall, LIMITS.laterChildren);
  return {
    callCount: names.length,
    calls: names.slice(0, LIMITS.namedCalls).map((name, index) => ({
      ...toCallRef(registry, name),
      ...(parallel.includes(index) && ({ parallel: true } as const)),
    })),
    laterPrompts: laterPrompts.length > 0 ? laterPrompts : undefined,
    laterChildren: laterChildren.length > 0 ? laterChildren : undefined,
  };
}

export function toCallRef(registry: Registry, name: string): CallRef {
  const tool = registry.tools.get(name);
  const mode = isPrompt(registry, name) ? 'prompt' : isSubagentCall(registry, name) ? 'child' : toMode(tool);
  // A model may make up a name of any length; what crosses Temporal must stay small.
  return { name: name.slice(0, 64), mode, timeoutMs: tool?.timeoutMs ?? 1000 };
}

/** True if a call of this name is a sub-prompt. */
export function isPrompt(registry: Registry, name: string): boolean {
  return findCallee(registry, name)?.kind === 'prompt';
}

function toMode(tool: ToolDefinition | undefined): DispatchMode {
  if (!tool || tool.quick) return 'quick';
  if (tool.runsCode) return 'code';
  return tool.idempotent ? 'idempotent' : 'once';
}
