/** How a tool's call is dispatched, as its definition says. An unknown tool is quick: its result is an error. */
import type { Registry } from '../core/definition.ts';
import type { CallRef } from '../core/step.ts';

export function toCallRef(registry: Registry, name: string): CallRef {
  const tool = registry.tools.get(name);
  const mode = !tool || tool.quick ? 'quick' : tool.idempotent ? 'idempotent' : 'once';
  // A model may make up a name of any length; what crosses Temporal stays small.
  return { name: name.slice(0, 64), mode, timeoutMs: tool?.timeoutMs ?? 1000 };
}
