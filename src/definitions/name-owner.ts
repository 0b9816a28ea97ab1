/**
 * Decides which definition owns a name (definitions §2). Names are unique within a kind; in addition, a tool must not
 * have the name of a prompt or an agent, since models call all three. The first definition of a name owns it, and each
 * later one is a problem; the names of built-in tools are reserved.
 */
import { parseRoute, routeShape } from '../core/project/route.ts';
import { BUILT_IN_TOOLS } from './built-in-tool.ts';
import type { Definition, DefinitionKind } from './definition-mark.ts';
import type { Problem } from './problem.ts';

/** A definition with its name and its file. */
export interface SourcedDefinition {
  readonly file: string;
  readonly definition: Definition;
}

/**
 * Kinds that must not share a name with this kind. An agent and a prompt may: an agent is often named like its prompt.
 */
const RIVALS: Readonly<Record<DefinitionKind, readonly DefinitionKind[]>> = {
  agent: ['agent', 'tool'],
  prompt: ['prompt', 'tool'],
  tool: ['tool', 'prompt', 'agent'],
  model: ['model'],
  hook: ['hook'],
  effect: ['effect'],
  policy: ['policy'],
  mcp_server: ['mcp_server'],
  a2a_agent: ['a2a_agent'],
  task: ['task'],
  manifest: ['manifest'],
  endpoint: ['endpoint'],
};

const isCallable = (kind: DefinitionKind) => RIVALS[kind].includes('tool');

/** The author's field that holds the name; absent for kinds that are named after their file. */
const NAME_FIELDS: Partial<Record<DefinitionKind, string>> = {
  agent: 'name',
  prompt: 'name',
  model: 'name',
  hook: 'id',
};

export function findDuplicates(definitions: readonly SourcedDefinition[]): Problem[] {
  const owners = new Map<string, SourcedDefinition>();
  return definitions.flatMap((sourced) => {
    const { kind } = sourced.definition;
    const claim = claimOf(sourced.definition);
    const rival = RIVALS[kind].map((each) => owners.get(`${each} ${claim}`)).find((each) => each);
    const owner = describeOwner(sourced.definition, rival);
    if (owner === undefined) {
      owners.set(`${kind} ${claim}`, sourced);
      return [];
    }
    const field = NAME_FIELDS[kind];
    return [
      { file: sourced.file, ...(field ? { field } : {}), message: describeClash(sourced.definition, owner) },
    ];
  });
}

/** One route can be written as several file names: `a.ts` and `a.get.ts`, `a/[id].ts` and `a/[name].ts`. */
function claimOf({ kind, name }: Definition): string {
  if (kind !== 'endpoint') return name;
  const parsed = parseRoute(name);
  return parsed.ok ? routeShape(parsed.route) : name;
}

function describeOwner({ kind, name }: Definition, owner: SourcedDefinition | undefined): string | undefined {
  if (isCallable(kind) && BUILT_IN_TOOLS.has(name)) return 'a built-in tool';
  return owner && `the ${owner.definition.kind} in ${owner.file}`;
}

function describeClash({ kind, name }: Definition, owner: string): string {
  if (kind === 'endpoint') return `answers the same requests as ${owner}`;
  return `'${name}' is already the ${NAME_FIELDS[kind] ?? 'name'} of ${owner}`;
}
