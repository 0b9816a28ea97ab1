/** Builds a registry from definitions made in code, for tests and programs. */
import type { A2aAgentDefinition } from '../core/author/a2a-agent.ts';
import type { AgentDefinition, ModelDefinition, PromptDefinition } from '../core/author/definition.ts';
import type { EffectDefinition } from '../core/author/effect.ts';
import type { EndpointDefinition } from '../core/author/endpoint.ts';
import type { HookDefinition } from '../core/author/hook.ts';
import type { ManifestDefinition } from '../core/author/manifest.ts';
import type { McpServerDefinition } from '../core/author/mcp-server.ts';
import type { PolicyDefinition } from '../core/author/policy.ts';
import type { Registry, ToolDefinition } from '../core/author/registry.ts';
import type { TaskDefinition } from '../core/author/task.ts';
import { type Definition, isDefinition, nameDefinition } from './definition-mark.ts';
import type { SourcedDefinition } from './name-owner.ts';
import { DefinitionError, type FieldProblem, type Problem } from './problem.ts';
import { buildRegistry } from './registry.ts';

/**
 * The key is the name of definitions that are otherwise named after their file:
 * `{ 'orders/[id].post': defineThreadEndpoint(…) }`.
 */
export interface RegistryInput {
  readonly agents?: readonly AgentDefinition[];
  readonly prompts?: readonly PromptDefinition[];
  readonly models?: readonly ModelDefinition[];
  readonly hooks?: readonly HookDefinition[];
  readonly tools?: Readonly<Record<string, ToolDefinition>>;
  readonly effects?: Readonly<Record<string, EffectDefinition>>;
  readonly policies?: Readonly<Record<string, PolicyDefinition>>;
  readonly mcpServers?: Readonly<Record<string, McpServerDefinition>>;
  readonly a2aAgents?: Readonly<Record<string, A2aAgentDefinition>>;
  readonly tasks?: Readonly<Record<string, TaskDefinition>>;
  readonly manifests?: Readonly<Record<string, ManifestDefinition>>;
  readonly endpoints?: Readonly<Record<string, EndpointDefinition>>;
}

/**
 * Builds a registry from definitions. Throws `InvalidDefinitions`, which lists every problem.
 * @example
 * ```ts
 * const registry = registryFrom({
 *   agents: [defineAgent({ name: 'echo', sideA: { prompt: 'echo' } })],
 *   prompts: [definePrompt({ name: 'echo', toolDescription: 'Echoes.', prompt: 'Echo.', model: 'main' })],
 *   models: [defineModel({ name: 'main', provider: scriptedModel([says('hello')]).provider, model: 'scripted' })],
 * });
 * ```
 */
export function registryFrom(input: RegistryInput): Registry {
  const { agents = [], prompts = [], models = [], hooks = [] } = input;
  const { tools, effects, policies, mcpServers, a2aAgents, tasks, manifests, endpoints } = input;
  const byFile = [tools, effects, policies, mcpServers, a2aAgents, tasks, manifests, endpoints];
  const named = byFile.flatMap(nameAll);
  const definitions = [...agents, ...prompts, ...models, ...hooks, ...named].map((definition) => ({
    file: `${definition.kind}s.${definition.name}`,
    definition,
  }));
  const unmarked = definitions.filter(({ definition }) => !isDefinition(definition)).map(toUnmarkedProblem);
  const { registry, problems } = buildRegistry(definitions);
  if (unmarked.length + problems.length > 0) {
    throw new DefinitionError('registryFrom', [...unmarked, ...problems.map(toFieldProblem)]);
  }
  return registry;
}

function nameAll(definitions: Readonly<Record<string, Definition>> = {}): Definition[] {
  return Object.entries(definitions).map(([name, definition]) => nameDefinition(definition, name));
}

function toUnmarkedProblem({ file }: SourcedDefinition): FieldProblem {
  return { field: file, message: 'was not created by a define… function' };
}

function toFieldProblem({ file, field, message }: Problem): FieldProblem {
  return { field: field === undefined || field === '' ? file : `${file}.${field}`, message };
}
