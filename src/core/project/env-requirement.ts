/**
 * The variables that an agent's reachable graph declares (definitions §3): which of them it needs before it may run, and which
 * its threads do not inherit from a parent.
 * - Reachable: its sides' prompts, the prompts they include and offer, tools named in `uses`, and the agents behind those.
 * - A value in a definition satisfies a need wherever `state.env` would find it: see `core/project/env.ts`, V1.
 * - Scoped variables of a child thread are not required here: the thread that makes the child provides them.
 */
import type { AgentDefinition, PromptDefinition, PromptToolEntry } from '../author/definition.ts';
import type { Registry, ToolDefinition } from '../author/registry.ts';
import type { VariableDefinition } from '../author/variable-definition.ts';
import { findCallee } from './callee.ts';

export interface Requirement {
  readonly name: string;
  /** Who declares it, such as `the tool "pay"`. */
  readonly by: string;
}

/** Required variables without a value in the definitions: the store must have one. Each name once. */
export function listRequirements(registry: Registry, agentName: string): readonly Requirement[] {
  const needed = walkFrom(registry, agentName).filter(
    ({ variable, provided, child }) => variable.required && !provided && !(child && variable.scoped),
  );
  const first = new Map<string, Requirement>();
  for (const { variable, by } of needed) {
    if (!first.has(variable.name)) first.set(variable.name, { name: variable.name, by });
  }
  return [...first.values()];
}

/** Whether threads of this agent reject a parent's value of the variable. */
export function isScoped(registry: Registry, agentName: string, name: string): boolean {
  return listScoped(registry, agentName).includes(name);
}

export interface ScopedRequirement extends Requirement {
  /** True if every reachable declaration of the variable finds a value in the definitions. */
  readonly provided: boolean;
}

/** Required variables that a thread of this agent does not inherit from its parent (runtime §7.5). Each name once. */
export function listScopedRequirements(registry: Registry, agentName: string): readonly ScopedRequirement[] {
  const found = new Map<string, ScopedRequirement>();
  for (const { variable, by, provided, child } of walkFrom(registry, agentName)) {
    if (child || !variable.scoped || !variable.required) continue;
    const first = found.get(variable.name) ?? { name: variable.name, by, provided };
    found.set(variable.name, { ...first, provided: first.provided && provided });
  }
  return [...found.values()];
}

/** All variables for which threads of this agent reject a parent's value, required or not. */
export function listScoped(registry: Registry, agentName: string): readonly string[] {
  const scoped = walkFrom(registry, agentName).filter(({ variable, child }) => variable.scoped && !child);
  return [...new Set(scoped.map(({ variable }) => variable.name))];
}

function walkFrom(registry: Registry, agentName: string): readonly Declared[] {
  const walk = new Walk(registry);
  const agent = registry.agents.get(agentName);
  if (agent) walk.agent(agent, false);
  return walk.found;
}

/** The required variables of one tool, wherever their values come from. */
export function requiredBy(tool: ToolDefinition): string[] {
  return tool.variables.filter(({ required }) => required).map(({ name }) => name);
}

type Env = Readonly<Record<string, string>>;

interface Declared {
  readonly variable: VariableDefinition;
  readonly by: string;
  /** True if a definition has a value for the variable. */
  readonly provided: boolean;
  /** True if the variable is declared for a child thread that this agent's thread makes. */
  readonly child: boolean;
}

/** A prompt that the walk has reached. */
interface ReachedPrompt {
  readonly agent: AgentDefinition;
  readonly prompt: PromptDefinition;
  /** True if the prompt is used in a child thread that this agent's thread makes. */
  readonly child: boolean;
}

class Walk {
  readonly found: Declared[] = [];
  readonly #registry: Registry;
  readonly #visited = new Set<string>();

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  agent(agent: AgentDefinition, child: boolean): void {
    if (this.#wasVisited('agent', agent.name, child)) return;
    const sides = agent.type === 'dual_ai' && agent.sideB ? [agent.sideA, agent.sideB] : [agent.sideA];
    for (const side of sides) {
      const prompt = this.#registry.prompts.get(side.prompt);
      this.#collect(agent.variables, `the agent "${agent.name}"`, [agent.env, prompt?.env], child);
      if (prompt) this.#prompt({ agent, prompt, child });
    }
  }

  #prompt(reached: ReachedPrompt, entry?: PromptToolEntry): void {
    const { agent, prompt, child } = reached;
    if (this.#wasVisited('prompt', agent.name, prompt.name, child)) return;
    for (const part of this.#withIncluded(prompt)) {
      this.#collect(part.variables, `the prompt "${part.name}"`, [agent.env, entry?.env, prompt.env], child);
    }
    for (const offered of prompt.tools) this.#offered(reached, offered);
  }

  #offered(reached: ReachedPrompt, entry: PromptToolEntry): void {
    const callee = findCallee(this.#registry, entry.name);
    if (callee?.kind === 'tool') this.#tool(reached, callee, entry);
    else if (callee?.kind === 'prompt') this.#prompt({ ...reached, prompt: callee }, entry);
    else if (callee) this.agent(callee, reached.child || callee.type === 'dual_ai');
  }

  #tool(reached: ReachedPrompt, tool: ToolDefinition, entry: PromptToolEntry | undefined): void {
    const { agent, prompt, child } = reached;
    if (this.#wasVisited('tool', agent.name, prompt.name, tool.name, child)) return;
    this.#collect(tool.variables, `the tool "${tool.name}"`, [agent.env, entry?.env, prompt.env], child);
    for (const name of tool.uses ?? []) {
      const used = this.#registry.tools.get(name);
      if (used)
        this.#tool(
          reached,
          used,
          prompt.tools.find((each) => each.name === name),
        );
    }
  }

  /** A prompt and all prompts that it includes: they are rendered as one text, with the values of that prompt. */
  #withIncluded(prompt: PromptDefinition, seen = new Set<PromptDefinition>()): Set<PromptDefinition> {
    if (seen.has(prompt)) return seen;
    seen.add(prompt);
    for (const part of prompt.prompt) {
      const included = part.type === 'include' ? this.#registry.prompts.get(part.prompt) : undefined;
      if (included) this.#withIncluded(included, seen);
    }
    return seen;
  }

  #collect(
    variables: readonly VariableDefinition[],
    by: string,
    sources: readonly (Env | undefined)[],
    child: boolean,
  ): void {
    for (const variable of variables) {
      const provided = sources.some((env) => env && Object.hasOwn(env, variable.name));
      this.found.push({ variable, by, provided, child });
    }
  }

  #wasVisited(...reached: readonly (string | boolean)[]): boolean {
    const key = JSON.stringify(reached);
    if (this.#visited.has(key)) return true;
    this.#visited.add(key);
    return false;
  }
}
