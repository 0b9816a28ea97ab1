/** How a tool's call is dispatched, as its definition says. An unknown tool is quick: its result is an error. */
import type { Registry, ToolDefinition } from '../core/definition.ts';
import type { CallRef, DispatchMode } from '../core/step.ts';

export function toCallRef(registry: Registry, name: string): CallRef {
  const tool = registry.tools.get(name);
  // A model may make up a name of any length; what crosses Temporal stays small.
  return { name: name.slice(0, 64), mode: toMode(tool), timeoutMs: tool?.timeoutMs ?? 1000 };
}

function toMode(tool: ToolDefinition | undefined): DispatchMode {
  if (!tool || tool.quick) return 'quick';
  if (tool.runsCode) return 'code';
  return tool.idempotent ? 'idempotent' : 'once';
}
