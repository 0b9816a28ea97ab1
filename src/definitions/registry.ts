/**
 * Puts definitions together into a registry in which every reference resolves (definitions §2.1), or says all
 * that is wrong. Pure: files are only names here.
 */
import type {
  AgentDefinition,
  ModelDefinition,
  PromptDefinition,
  Registry,
  ToolDefinition,
} from '../core/definition.ts';
import { checkAgentReferences } from './agent-reference.ts';
import { type Definition, definitionWarnings, isDefinition } from './brand.ts';
import { BUILT_IN_TOOLS } from './built-in-tool.ts';
import { nameTool, TOOL_NAME } from './define-tool.ts';
import { DefinitionError, type FieldProblem, type Problem } from './problem.ts';
import { checkPromptReferences, collectSecrets } from './prompt-reference.ts';
import { asProblems, callableNames, checkName, type Findings, type Scope } from './scope.ts';

/** A definition and where it was written; a tool already under its name. */
export interface SourcedDefinition {
  readonly file: string;
  readonly definition: Definition;
}

export interface BuiltRegistry {
  /** What could be used; complete and sound only when there are no problems. */
  readonly registry: Registry;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

/**
 * Adds the built-in tools. `unavailable` holds the names of broken definitions: what refers to them is not told as a
 * second problem.
 */
export function buildRegistry(
  definitions: readonly SourcedDefinition[],
  unavailable: ReadonlySet<string> = new Set(),
): BuiltRegistry {
  const { registry, duplicates } = collect(definitions);
  const scope: Scope = { ...registry, unavailable };
  const secrets = collectSecrets(registry);
  const problems = [...duplicates];
  const warnings: Problem[] = [];
  for (const { file, definition } of definitions) {
    const found = checkDefinition(scope, definition, secrets);
    problems.push(...inFile(file, found.problems));
    warnings.push(...inFile(file, [...definitionWarnings(definition), ...found.warnings]));
  }
  return { registry, problems, warnings };
}

function checkDefinition(
  scope: Scope,
  definition: Definition,
  secrets: ReadonlyMap<string, string>,
): Findings {
  switch (definition.kind) {
    case 'agent':
      return withNameWarning(definition, checkAgentReferences(scope, definition));
    case 'prompt':
      return withNameWarning(definition, checkPromptReferences(scope, definition, secrets));
    case 'model':
      return asProblems(checkEach(scope, 'fallbacks', 'a model', definition.fallbacks, scope.models.keys()));
    case 'tool':
      return asProblems([
        ...checkToolName(definition.name),
        ...checkEach(scope, 'uses', 'a tool, prompt or agent', definition.uses ?? [], callableNames(scope)),
      ]);
  }
}

function checkEach(
  scope: Scope,
  field: string,
  what: string,
  names: readonly string[],
  known: Iterable<string>,
): FieldProblem[] {
  const all = [...known];
  return names.flatMap((name, index) => checkName(scope, `${field}[${index}]`, what, name, all));
}

function checkToolName(name: string): FieldProblem[] {
  if (TOOL_NAME.test(name)) return [];
  const message = `a tool is named by its file, and '${name}' is not snake_case: lower-case letters, digits and _, two at least, a letter first`;
  return [{ field: '', message }];
}

function withNameWarning({ name }: Definition, found: Findings): Findings {
  if (TOOL_NAME.test(name)) return found;
  const message = `is '${name}'; snake_case is advised, since models see it when it is offered as a tool`;
  return { ...found, warnings: [...found.warnings, { field: 'name', message }] };
}

/**
 * A name belongs to the built-in tool of that name, else to its first definition; each later one is a problem.
 * Models have names of their own.
 */
function collect(definitions: readonly SourcedDefinition[]): { registry: Registry; duplicates: Problem[] } {
  const owners = new Map<string, SourcedDefinition>();
  const duplicates: Problem[] = [];
  for (const sourced of definitions) {
    const { kind, name } = sourced.definition;
    const key = `${kind === 'model' ? 'model' : 'callable'} ${name}`;
    const owner =
      kind !== 'model' && BUILT_IN_TOOLS.has(name) ? 'a built-in tool' : tellOwner(owners.get(key));
    if (owner === undefined) owners.set(key, sourced);
    else
      duplicates.push({
        file: sourced.file,
        field: kind === 'tool' ? '' : 'name',
        message: `'${name}' is already the name of ${owner}`,
      });
  }
  const all = [...BUILT_IN_TOOLS.values(), ...definitions.map(({ definition }) => definition)];
  return { registry: sortByKind(all), duplicates };
}

function tellOwner(owner: SourcedDefinition | undefined): string | undefined {
  return owner && `the ${owner.definition.kind} in ${owner.file}`;
}

/** The first of a name and kind wins; a name that two kinds claim is kept under both, so that references hold. */
function sortByKind(definitions: readonly Definition[]): Registry {
  const ofKind = <K extends Definition['kind']>(kind: K) => {
    const found = new Map<string, Extract<Definition, { kind: K }>>();
    for (const definition of definitions) {
      if (isKind(definition, kind) && !found.has(definition.name)) found.set(definition.name, definition);
    }
    return found;
  };
  return {
    agents: ofKind('agent'),
    prompts: ofKind('prompt'),
    models: ofKind('model'),
    tools: ofKind('tool'),
  };
}

function isKind<K extends Definition['kind']>(
  definition: Definition,
  kind: K,
): definition is Extract<Definition, { kind: K }> {
  return definition.kind === kind;
}

function inFile(file: string, problems: readonly FieldProblem[]): Problem[] {
  return problems.map(({ field, message }) => (field === '' ? { file, message } : { file, field, message }));
}

/** Definitions made in code. A tool's key is its name. */
export interface RegistryInput {
  readonly agents?: readonly AgentDefinition[];
  readonly prompts?: readonly PromptDefinition[];
  readonly models?: readonly ModelDefinition[];
  readonly tools?: Readonly<Record<string, ToolDefinition>>;
}

/** A registry without files, for tests and programs. Throws `InvalidDefinitions` with every problem. */
export function registryFrom(input: RegistryInput): Registry {
  const tools = Object.entries(input.tools ?? {}).map(([name, tool]) => nameTool(tool, name));
  const plain = [...(input.agents ?? []), ...(input.prompts ?? []), ...(input.models ?? [])];
  const definitions = [...plain, ...tools].map((definition) => ({
    file: `${definition.kind}s.${definition.name}`,
    definition,
  }));
  const unmarked = definitions.filter(({ definition }) => !isDefinition(definition)).map(toUnmarked);
  const { registry, problems } = buildRegistry(definitions);
  if (unmarked.length + problems.length > 0) {
    throw new DefinitionError('registryFrom', [...unmarked, ...problems.map(toFieldProblem)]);
  }
  return registry;
}

function toUnmarked({ file }: SourcedDefinition): FieldProblem {
  return { field: file, message: 'was not made by a define… function' };
}

function toFieldProblem({ file, field, message }: Problem): FieldProblem {
  return { field: field === undefined || field === '' ? file : `${file}.${field}`, message };
}
