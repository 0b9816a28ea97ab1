/** The agents of a project as doors know them: names for people, the arguments that each begins with. */
import type { AuthorSchema, Registry, SideDefinition } from '../../core/author/definition.ts';
import { type JsonSchema, toParameters } from '../../definitions/tool-schema.ts';
import type { ApiAgent } from '../../server/api/host.ts';

export function agentsOf({ agents, prompts }: Registry): ApiAgent[] {
  return [...agents.values()].map(({ name, title = null, description = null, icon, sideA, sideB }) => ({
    ...{ name, title, description, icon: icon ?? null },
    parameters: parametersOf(prompts.get(sideA.prompt)?.requiredSchema),
    sideA: sideOf(sideA),
    ...(sideB && { sideB: sideOf(sideB) }),
  }));
}

/** Worked out once for each schema: requests ask for them. */
const known = new WeakMap<AuthorSchema, JsonSchema>();

function parametersOf(schema: AuthorSchema | undefined): JsonSchema | undefined {
  if (!schema) return undefined;
  const parameters = known.get(schema) ?? toParameters(schema);
  known.set(schema, parameters);
  return parameters;
}

function sideOf({ prompt, label }: SideDefinition) {
  return { prompt, label: label ?? null };
}
