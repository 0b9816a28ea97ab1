/**
 * What a prompt offers to its model (definitions §6.3, §13.3): function tools; prompts, with the parameters of their
 * schema; agents of type `ai_human`, whose handoff takes the parameters of their side A's prompt; enabled subagents.
 */
import type { AgentDefinition, PromptDefinition } from '../../core/author/definition.ts';
import type { Registry } from '../../core/author/registry.ts';
import type { ProviderTool } from '../../core/message/provider.ts';
import { findCallee } from '../../core/project/callee.ts';
import { parseClientToolName } from '../../core/project/client-tool.ts';
import { listSubagents, type Subagent } from '../../core/project/subagent.ts';
import type { ThreadRecord } from '../../store/thread/thread-record.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { enabledSubagents } from './immediate-subagents.ts';
import { type McpOffer, NO_MCP } from './mcp-offer.ts';
import { offerLifecycle, offerSubagent, parametersOf, type SubagentOffer, toTool } from './subagent-tools.ts';

/**
 * The subagents that can be offered now. Nothing is read if the prompt lists neither an optional nor a resumable one.
 */
export async function readSubagentOffer(
  sources: Pick<ActivityDependencies, 'store' | 'registry'>,
  thread: ThreadRecord,
  prompt: PromptDefinition,
): Promise<SubagentOffer> {
  const enabled = await enabledSubagents(sources, thread, prompt);
  if (!mayMessageChild(thread, enabled)) return { enabled, living: false };
  const known = new Set(enabled.map(({ agent }) => agent.name));
  const off = listSubagents(sources.registry(), prompt).filter(({ agent }) => !known.has(agent.name));
  const except = off.map(({ agent }) => agent.name);
  return { enabled, living: await sources.store.children.hasResumable(thread.id, { except }) };
}

/** The largest offer that the prompt may come to make, computed without reading anything. */
export function fullSubagentOffer(
  registry: Registry,
  thread: ThreadRecord,
  prompt: PromptDefinition,
): SubagentOffer {
  const enabled = listSubagents(registry, prompt);
  return { enabled, living: mayMessageChild(thread, enabled) };
}

/** True if the thread may have a child that the prompt can message. */
function mayMessageChild({ childCount }: ThreadRecord, enabled: readonly Subagent[]): boolean {
  return childCount > 0 && enabled.some(({ resumable }) => resumable);
}

export function offeredTools(
  registry: Registry,
  { tools }: PromptDefinition,
  subagents: SubagentOffer,
  mcp: McpOffer = NO_MCP,
): ProviderTool[] {
  const own = tools.flatMap(({ name, mcp: remote }) => {
    if (remote) return offerMcp(mcp, name);
    const subagent = subagents.enabled.find(({ entry }) => entry.name === name);
    if (!subagent) return toOfferedTool(registry, name) ?? [];
    return subagent.resumable ? [] : [offerSubagent(registry, subagent)];
  });
  const ofClient = [...mcp.keys()].filter((name) => parseClientToolName(name) !== undefined);
  return [...own, ...ofClient.flatMap((name) => offerMcp(mcp, name)), ...offerLifecycle(registry, subagents)];
}

function toOfferedTool(registry: Registry, name: string): ProviderTool | undefined {
  const callee = findCallee(registry, name);
  if (callee?.kind === 'tool') return toTool(name, callee.description, callee.parameters);
  if (callee?.kind === 'prompt')
    return toTool(name, callee.toolDescription, parametersOf(callee.requiredSchema));
  // A dual_ai agent runs in a separate thread: no handoff.
  if (callee?.type !== 'ai_human') return undefined;
  const schema = registry.prompts.get(callee.sideA.prompt)?.requiredSchema;
  return toTool(name, describe(callee), parametersOf(schema));
}

/** Empty if the tool's server has not listed it. */
function offerMcp(mcp: McpOffer, name: string): ProviderTool[] {
  const mcpTool = mcp.get(name);
  return mcpTool ? [{ type: 'function', function: mcpTool, executionMode: 'local' }] : [];
}

function describe({ name, title, description, toolDescription }: AgentDefinition): string {
  return toolDescription ?? description ?? title ?? `Hands over the conversation to ${name}.`;
}
