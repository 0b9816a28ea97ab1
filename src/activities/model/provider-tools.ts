/**
 * Tools that the provider itself runs (definitions §6.3, §8): sent with the request, never executed here.
 * A prompt names one as the model declares it in `providerTools` (`x` or `provider:x`), by a tool of the project with
 * `executionMode: 'provider'`, or as the provider itself lists it (`provider:x`). A fallback model that lacks the tool
 * is asked without it.
 */
import type { ModelDefinition, PromptToolEntry } from '../../core/author/definition.ts';
import type { Registry } from '../../core/author/registry.ts';
import { type AgentPolicy, providerCapability } from '../../core/governance/agent-policy.ts';
import { type Permissions, readPermissions } from '../../core/governance/permissions.ts';
import { findRule } from '../../core/governance/policy-rule.ts';
import type { ProviderResponse, ProviderTool } from '../../core/message/provider.ts';
import type { ProviderOwnTool } from '../../core/message/provider-terms.ts';
import type { ActiveSide } from '../../core/project/active-side.ts';
import { toParameters } from '../../definitions/index.ts';
import type { ProviderTools } from '../../models/open-provider.ts';

/** A model, and the tools that its provider says it runs itself. */
export interface AskedModel {
  readonly model: ModelDefinition;
  readonly tools: ProviderTools;
}

const PROVIDER_PREFIX = 'provider:';

export function findProviderTools(
  registry: Registry,
  { prompt, agent: { policy } }: Pick<ActiveSide, 'prompt' | 'agent'>,
  asked: AskedModel,
  permissions: Permissions = {},
): ProviderTool[] {
  const found = prompt.tools.flatMap((entry) => toProviderTool(registry, asked, entry) ?? []);
  return found.filter(({ function: { name } }) => maySend(policy, permissions, providerCapability(name)));
}

/**
 * Tools that the provider runs pass no gate, so no approval can be asked for them. If the agent has a policy, one of
 * its rules must allow the tool; the run context's permissions must allow it too (default: they do).
 */
function maySend(policy: AgentPolicy | undefined, permissions: Permissions, capability: string): boolean {
  const { rules, default: fallback = 'allow' } = readPermissions(permissions);
  if ((findRule(rules, capability) ?? fallback) !== 'allow') return false;
  return !policy || findRule(policy.rules, capability) === 'allow';
}

/** Metadata of a message about the tools that the provider has run; empty if it has run none. */
export function executedMetadata({ providerTools }: ProviderResponse): { providerTools?: unknown[] } {
  if (!providerTools || providerTools.length === 0) return {};
  return {
    providerTools: providerTools.map((tool) => (isSmallResult(tool.result) ? tool : truncateResult(tool))),
  };
}

/**
 * Maximum characters of a stored result: a search may return whole pages, and the answer already holds what the model
 * made of them.
 */
const MAX_RESULT_CHARS = 32_000;

function isSmallResult(result: unknown): boolean {
  return (JSON.stringify(result)?.length ?? 0) <= MAX_RESULT_CHARS;
}

function truncateResult({ result, ...tool }: NonNullable<ProviderResponse['providerTools']>[number]) {
  return { ...tool, result: `${JSON.stringify(result).slice(0, MAX_RESULT_CHARS)}…`, resultCut: true };
}

/** True if the name is that of a project tool that the provider runs. */
export function runsAtProvider(registry: Registry, name: string): boolean {
  return registry.tools.get(name)?.executionMode === 'provider';
}

function toProviderTool(
  registry: Registry,
  { model, tools }: AskedModel,
  { name, options }: PromptToolEntry,
): ProviderTool | undefined {
  const tool = registry.tools.get(name);
  if (tool) {
    if (tool.executionMode !== 'provider') return undefined;
    const { description, parameters, executionProvider } = tool;
    return {
      type: 'function',
      function: { name, description, parameters },
      executionMode: 'provider',
      ...(executionProvider === undefined ? {} : { executionProvider }),
      options,
    };
  }
  // A prompt or an agent of that name takes precedence, as it does when the project is checked.
  if (registry.prompts.has(name) || registry.agents.has(name)) return undefined;
  const own = name.startsWith(PROVIDER_PREFIX) ? name.slice(PROVIDER_PREFIX.length) : name;
  const declared = model.providerTools.find((each) => each === name || each === own);
  // With the prefix, it is the provider's tool even if the model's definition does not list it.
  const offered = declared ?? (name !== own && Object.hasOwn(tools, own) ? own : undefined);
  if (offered === undefined) return undefined;
  return {
    type: 'function',
    function: { name: offered, ...describe(tools[offered]) },
    executionMode: 'provider',
    options,
  };
}

/** Describes a tool as the provider does (`getTools`); some tools need only the name. */
function describe(
  tool: ProviderOwnTool | undefined,
): Pick<ProviderTool['function'], 'description' | 'parameters'> {
  const { description, parameters, args } = tool ?? {};
  return {
    description: typeof description === 'string' ? description : '',
    parameters: toSchema(args) ?? parameters ?? {},
  };
}

/** Undefined for a value that is not a zod schema, or for a schema that cannot be described. */
function toSchema(args: unknown): ProviderTool['function']['parameters'] | undefined {
  try {
    return args === undefined ? undefined : toParameters(args);
  } catch {
    return undefined;
  }
}
