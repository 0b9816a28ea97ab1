/**
 * Describes a project's agents for its servers (HTTP API, MCP, A2A): display names, and the arguments that each starts
 * with.
 */

import { checkStoredArguments } from '../../author/tool/check-schema.ts';
import type { AuthorSchema } from '../../core/author/author-schema.ts';
import type { SideDefinition } from '../../core/author/definition.ts';
import type { Registry } from '../../core/author/registry.ts';
import { toParameters } from '../../definitions/tool-schema.ts';
import type { AgentArguments, ApiAgent } from '../../server/api/host.ts';

export function agentsOf({ agents, prompts }: Registry): ApiAgent[] {
  return [...agents.values()].map(({ name, title = null, description = null, icon, sideA, sideB }) => ({
    ...{ name, title, description, icon: icon ?? null },
    arguments: argumentsOf(prompts.get(sideA.prompt)?.requiredSchema),
    sideA: toSide(sideA),
    ...(sideB && { sideB: toSide(sideB) }),
  }));
}

/** Arguments by schema, computed once because each request needs them. */
const argumentsCache = new WeakMap<AuthorSchema, AgentArguments>();

function argumentsOf(schema: AuthorSchema | undefined): AgentArguments | undefined {
  if (!schema) return undefined;
  const found: AgentArguments = argumentsCache.get(schema) ?? {
    schema: toParameters(schema),
    check: (given) => checkStoredArguments(schema, given),
  };
  argumentsCache.set(schema, found);
  return found;
}

function toSide({ prompt, label }: SideDefinition) {
  return { prompt, label: label ?? null };
}
