/**
 * Combines definitions into a registry in which every reference resolves (definitions §2.1), or reports all
 * problems. Pure: it does not access files, and uses their names only for reports.
 */
import type { AgentDefinition, ModelDefinition, PromptDefinition } from '../core/author/definition.ts';
import type { ManifestDefinition } from '../core/author/manifest.ts';
import type { Registry } from '../core/author/registry.ts';
import type { TaskDefinition } from '../core/author/task.ts';
import type { ModelPrices } from '../core/message/model-price.ts';
import { findCallee } from '../core/project/callee.ts';
import { MAX_NAME_CHARS } from '../core/project/mcp-tool.ts';
import { parseRoute } from '../core/project/route.ts';
import { taskToolName } from '../core/project/task-tool.ts';
import { checkAgentReferences } from './agent-reference.ts';
import { BUILT_IN_TOOLS } from './built-in-tool.ts';
import { TOOL_NAME } from './define-tool.ts';
import { type Definition, definitionWarnings } from './definition-mark.ts';
import { pricesOf } from './known-price.ts';
import { withMadeTools } from './made-tools.ts';
import { findDuplicates, type SourcedDefinition } from './name-owner.ts';
import type { FieldProblem, Problem } from './problem.ts';
import { checkPromptReferences, collectSecrets } from './prompt-reference.ts';
import {
  callableNames,
  checkName,
  type Findings,
  joinFindings,
  LIFECYCLE_TOOLS,
  NO_FINDINGS,
  type Scope,
  toFindings,
} from './scope.ts';

export interface BuiltRegistry {
  /** The usable definitions; complete only when there are no problems. */
  readonly registry: Registry;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

/**
 * Builds the registry, with the built-in tools. `unavailable` holds the names of broken definitions: references to them
 * are not reported as further problems.
 */
export function buildRegistry(
  definitions: readonly SourcedDefinition[],
  unavailable: ReadonlySet<string> = new Set(),
): BuiltRegistry {
  const registry = withMadeTools(
    sortByKind([...BUILT_IN_TOOLS.values(), ...definitions.map(({ definition }) => definition)]),
  );
  const scope: Scope = { ...registry, unavailable };
  const secrets = collectSecrets(registry);
  const problems = findDuplicates(definitions);
  const warnings: Problem[] = [];
  for (const { file, definition } of definitions) {
    const found = checkDefinition(scope, definition, secrets);
    problems.push(...withFile(file, found.problems));
    warnings.push(...withFile(file, [...definitionWarnings(definition), ...found.warnings]));
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
      return joinFindings([
        checkAgentReferences(scope, definition),
        checkHooks(scope, definition.hooks),
        toFindings(checkBudget(scope, definition)),
        checkEvaluators(scope, definition),
        adviseName(definition),
      ]);
    case 'prompt':
      return joinFindings([
        checkPromptReferences(scope, definition, secrets),
        checkHooks(scope, definition.hooks),
        adviseName(definition),
      ]);
    case 'model':
      return toFindings(checkEach(scope, 'fallbacks', 'a model', definition.fallbacks, scope.models.keys()));
    case 'tool':
      return toFindings([
        ...checkToolName(definition.name),
        ...checkEach(scope, 'uses', 'a tool, prompt or agent', definition.uses ?? [], [
          ...callableNames(scope),
          ...LIFECYCLE_TOOLS,
        ]),
      ]);
    case 'hook':
      return NO_FINDINGS;
    case 'policy':
      return toFindings(checkFileName('a policy', definition.name));
    case 'mcp_server':
      return toFindings(checkServerName(definition.name));
    case 'a2a_agent':
      return toFindings(checkRemoteName(definition.name));
    case 'task':
      return toFindings([
        ...checkFileName('a task', definition.name),
        ...checkTaskTool(scope, definition),
        ...checkTaskAgent(scope, definition),
      ]);
    case 'manifest':
      return toFindings([...checkFileName('a manifest', definition.name), ...checkRun(scope, definition)]);
    case 'effect':
      return toFindings(checkFileName('an effect', definition.name));
    case 'endpoint':
      return toFindings(checkRoute(definition.name));
  }
}

/** Checks that no tool has the name of the tool by which agents start the task. */
function checkTaskTool(scope: Scope, { name }: TaskDefinition): FieldProblem[] {
  const tool = scope.tools.get(taskToolName(name));
  if (!tool || tool.startsTask === name) return [];
  return [{ field: '', message: `is started by agents as '${tool.name}', which is the name of a tool` }];
}

/** Checks that the agent exists whose policy judges the task. */
function checkTaskAgent(scope: Scope, { agent }: TaskDefinition): FieldProblem[] {
  return agent === undefined ? [] : checkName(scope, 'agent', 'an agent', agent, [...scope.agents.keys()]);
}

/** Checks that the task or agent exists that runs the manifest. */
function checkRun(scope: Scope, { run }: ManifestDefinition): FieldProblem[] {
  if (run === null) return [];
  return checkName(scope, 'run', 'a task or an agent', run, [...scope.tasks.keys(), ...scope.agents.keys()]);
}

/** Checks that the policies exist which the agent's policy and budget name, each with the function that it needs. */
function checkEvaluators(scope: Scope, { policy, budget }: AgentDefinition): Findings {
  const judging = (by: 'evaluate' | 'evaluateBudget') =>
    [...scope.policies.values()].flatMap((each) => (each[by] ? [each.name] : []));
  const check = (field: string, what: string, name: string | undefined, names: readonly string[]) =>
    name === undefined ? [] : checkName(scope, field, what, name, names);
  return toFindings([
    ...check('policy.evaluate', 'a policy', policy?.evaluate, judging('evaluate')),
    ...check('budget.evaluate', 'a policy with evaluateBudget', budget?.evaluate, judging('evaluateBudget')),
  ]);
}

function checkHooks(scope: Scope, hooks: readonly string[]): Findings {
  return toFindings(checkEach(scope, 'hooks', 'a hook', hooks, scope.hooks.keys()));
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
  const isSnakeCase = TOOL_NAME.test(name);
  if (isSnakeCase && name.length <= MAX_NAME_CHARS) return [];
  const fault = isSnakeCase
    ? `has ${name.length} characters, and providers accept at most ${MAX_NAME_CHARS}`
    : 'is not snake_case: use at least two lower-case letters, digits and _, starting with a letter';
  return [{ field: '', message: `a tool is named by its file, and '${name}' ${fault}` }];
}

const FILE_NAME = /^[A-Za-z0-9_-]+$/;

function checkFileName(what: string, name: string): FieldProblem[] {
  if (FILE_NAME.test(name)) return [];
  const message = `${what} is named by its file, and '${name}' is not a valid name: use letters, digits, _ and -`;
  return [{ field: '', message }];
}

/** Checks the name of a server. It is part of the names of its tools, whose length providers limit. */
function checkServerName(name: string): FieldProblem[] {
  const found = checkFileName('an MCP server', name);
  if (found.length > 0 || name.length <= 32) return found;
  return [
    { field: '', message: `an MCP server is named by its file, and '${name}' has more than 32 characters` },
  ];
}

/** Checks the name of an agent elsewhere. It is part of the name of its tool, whose length providers limit. */
function checkRemoteName(name: string): FieldProblem[] {
  const found = checkFileName('an A2A agent', name);
  if (found.length > 0 || name.length <= 48) return found;
  return [
    { field: '', message: `an A2A agent is named by its file, and '${name}' has more than 48 characters` },
  ];
}

function checkRoute(name: string): FieldProblem[] {
  const parsed = parseRoute(name);
  return parsed.ok ? [] : [{ field: '', message: `is not a valid route: its path ${parsed.problem}` }];
}

/** Warns if a name is not snake_case: models see the names of agents and prompts that are offered as tools. */
function adviseName({ name }: Definition): Findings {
  if (TOOL_NAME.test(name)) return NO_FINDINGS;
  const message = `is '${name}'; snake_case is recommended, because models see the name when it is offered as a tool`;
  return { problems: [], warnings: [{ field: 'name', message }] };
}

/** The first definition of a name and kind wins; a name that two kinds claim is kept under both, so that references resolve. */
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
    hooks: ofKind('hook'),
    effects: ofKind('effect'),
    policies: ofKind('policy'),
    mcpServers: ofKind('mcp_server'),
    a2aAgents: ofKind('a2a_agent'),
    tasks: ofKind('task'),
    manifests: ofKind('manifest'),
    endpoints: ofKind('endpoint'),
  };
}

function isKind<K extends Definition['kind']>(
  definition: Definition,
  kind: K,
): definition is Extract<Definition, { kind: K }> {
  return definition.kind === kind;
}

function withFile(file: string, problems: readonly FieldProblem[]): Problem[] {
  return problems.map(({ field, message }) => (field === '' ? { file, message } : { file, field, message }));
}

/**
 * Checks that a budget with `maxCost` has the prices of all models that its executions may use, including those of
 * sub-prompts, handoffs and subagents.
 */
function checkBudget(scope: Scope, agent: AgentDefinition): FieldProblem[] {
  if (agent.budget?.maxCost === undefined) return [];
  const unpriced = [...findModels(scope, agent)].filter((model) => !hasBothPrices(pricesOf(model)));
  return unpriced.map(({ name }) => ({
    field: 'budget.maxCost',
    message: `needs prices, and the model '${name}', which it may call, has none: set its inputPrice and outputPrice`,
  }));
}

const hasBothPrices = (prices: ModelPrices | undefined): boolean =>
  prices?.inputPrice !== undefined && prices.outputPrice !== undefined;

/** Returns the models that the agent may use, each once, including fallbacks. */
function findModels(scope: Scope, agent: AgentDefinition): Set<ModelDefinition> {
  const models = new Set<ModelDefinition>();
  const seen = new Set<AgentDefinition | PromptDefinition>();
  const visit = (callee: AgentDefinition | PromptDefinition): void => {
    if (seen.has(callee)) return;
    seen.add(callee);
    if (callee.kind === 'agent') {
      for (const side of [callee.sideA, callee.sideB]) {
        const prompt = side && scope.prompts.get(side.prompt);
        if (prompt) visit(prompt);
      }
      return;
    }
    const primary = scope.models.get(callee.model);
    for (const name of [callee.model, ...(primary?.fallbacks ?? [])]) {
      const model = scope.models.get(name);
      if (model) models.add(model);
    }
    for (const { name } of callee.tools) {
      const called = findCallee(scope, name);
      if (called && called.kind !== 'tool') visit(called);
    }
  };
  visit(agent);
  return models;
}
