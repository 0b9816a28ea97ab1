/** The agents of a project as doors know them: names for people, the arguments that each begins with. */
import type { AuthorSchema, Registry, SideDefinition } from '../../core/author/definition.ts';
import { toParameters } from '../../definitions/tool-schema.ts';
import type { AgentArguments, ApiAgent } from '../../server/api/host.ts';
import { checkStoredArguments } from '../../state/check-schema.ts';

export function agentsOf({ agents, prompts }: Registry): ApiAgent[] {
  return [...agents.values()].map(({ name, title = null, description = null, icon, sideA, sideB }) => ({
    ...{ name, title, description, icon: icon ?? null },
    arguments: argumentsOf(prompts.get(sideA.prompt)?.requiredSchema),
    sideA: sideOf(sideA),
    ...(sideB && { sideB: sideOf(sideB) }),
  }));
}

/** Worked out once for each schema: requests ask for them. */
const known = new WeakMap<AuthorSchema, AgentArguments>();

function argumentsOf(schema: AuthorSchema | undefined): AgentArguments | undefined {
  if (!schema) return undefined;
  const found: AgentArguments = known.get(schema) ?? {
    schema: toParameters(schema),
    check: (given) => checkStoredArguments(schema, given),
  };
  known.set(schema, found);
  return found;
}

function sideOf({ prompt, label }: SideDefinition) {
  return { prompt, label: label ?? null };
}
