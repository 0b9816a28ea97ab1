/**
 * Which definition owns a name (definitions §2). Tools, prompts and agents share one namespace, since models call all three;
 * models, hooks, effects and endpoints have one each. The first definition of a name owns it, each later one is a problem; the
 * names of built-in tools are reserved.
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

type Namespace = 'callable' | 'model' | 'hook' | 'effect' | 'endpoint';

const NAMESPACES: Readonly<Record<DefinitionKind, Namespace>> = {
  agent: 'callable',
  prompt: 'callable',
  tool: 'callable',
  model: 'model',
  hook: 'hook',
  effect: 'effect',
  endpoint: 'endpoint',
};

/** The author's field with the name; none where the file's name is the name. */
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
    const key = `${NAMESPACES[kind]} ${claimOf(sourced.definition)}`;
    const owner = tellOwner(sourced.definition, owners.get(key));
    if (owner === undefined) {
      owners.set(key, sourced);
      return [];
    }
    const field = NAME_FIELDS[kind];
    return [
      { file: sourced.file, ...(field ? { field } : {}), message: tellClash(sourced.definition, owner) },
    ];
  });
}

/** One route can be written as several file names: `a.ts` and `a.get.ts`, `a/[id].ts` and `a/[name].ts`. */
function claimOf({ kind, name }: Definition): string {
  if (kind !== 'endpoint') return name;
  const parsed = parseRoute(name);
  return parsed.ok ? routeShape(parsed.route) : name;
}

function tellOwner({ kind, name }: Definition, owner: SourcedDefinition | undefined): string | undefined {
  if (NAMESPACES[kind] === 'callable' && BUILT_IN_TOOLS.has(name)) return 'a built-in tool';
  return owner && `the ${owner.definition.kind} in ${owner.file}`;
}

function tellClash({ kind, name }: Definition, owner: string): string {
  if (kind === 'endpoint') return `answers the same requests as ${owner}`;
  return `'${name}' is already the ${NAME_FIELDS[kind] ?? 'name'} of ${owner}`;
}
