/**
 * A requested call before it is judged, and its conversion to an action.
 * - The fingerprint covers all that will be done, so an approval applies to exactly these arguments, and to a callee
 *   that gives them the same meaning: workers with different definitions may share a task queue.
 */
import { hash } from 'node:crypto';
import type { PromptDefinition } from '../../core/author/definition.ts';
import type { PolicyDefinition } from '../../core/author/policy.ts';
import type { Registry, ToolDefinition } from '../../core/author/registry.ts';
import {
  type ActingRules,
  type Action,
  type AgentPolicy,
  findRules,
  type JudgedAction,
  NO_RULES,
  OWN_CAPABILITIES,
} from '../../core/governance/agent-policy.ts';
import { findWidest } from '../../core/governance/grant.ts';
import type { PreparedAction } from '../../core/governance/prepared-action.ts';
import type { RunContext } from '../../core/governance/run-context.ts';
import { findGuards, type Guards } from '../../core/guard/guards.ts';
import { canonicalJson } from '../../core/value/canonical-json.ts';
import { type JsonSchema, undescribed } from '../../core/value/json-schema.ts';
import type { Grantable } from '../../core/wait/answer.ts';
import type { GrantedTool } from '../../store/grant/grant-record.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { ThreadRecord } from '../../store/thread/thread-record.ts';
import { retryWhileUnavailable } from '../guard/retry-while-unavailable.ts';
import { findSpendingPolicy } from './judge-spending.ts';

/** A requested call, with what is needed to judge it. */
export interface AskedAction extends Pick<Action, 'id' | 'kind' | 'name' | 'callId' | 'capabilities'> {
  readonly rules: ActingRules;
  readonly thread: ThreadRecord;
  /** Absent at rest. */
  readonly executionId?: string;
  /** Validated arguments. */
  readonly args: unknown;
  /** What is called. Absent for an action of the application, which has no schema. */
  readonly callee?: Pick<ToolDefinition, 'parameters' | 'version'>;
  /** The tool that is called; absent for prompts, agents and actions of the application. */
  readonly tool?: Pick<ToolDefinition, 'grantable' | 'remote' | 'a2a'>;
  readonly prepared?: PreparedAction;
  /** The author's policy that judges in addition to the agent's rules. */
  readonly evaluator?: PolicyDefinition;
  /** The author's policy that judges in addition to the limits of the agent's budget. */
  readonly spender?: PolicyDefinition;
  /** Who confirms the call if its tool requires it; a person if absent. */
  readonly confirms?: Guards['confirm'];
  /** Number of the calling step. */
  readonly step?: number;
  readonly runContext?: RunContext | null;
  readonly signal: AbortSignal;
}

/** Returns the capabilities that a call of the tool needs. */
export function capabilitiesOf({ capabilities, runsCode }: ToolDefinition): readonly string[] {
  return capabilities ?? (runsCode ? [OWN_CAPABILITIES.runsCode] : []);
}

/**
 * Returns the rules that judge a call of this name; undefined if nothing judges it. The rules are empty if only the
 * tool's confirmation or the budget's policy judges it.
 */
export function rulesFor(
  { agents, tools }: Pick<Registry, 'agents' | 'tools'>,
  agent: string,
  context: Pick<RunContext, 'permissions'> | null | undefined,
  name: string,
): ActingRules | undefined {
  const { policy, budget } = agents.get(agent) ?? {};
  const isAsked = tools.get(name)?.confirm !== undefined || budget?.evaluate !== undefined;
  return findRules(policy, context) ?? (isAsked ? NO_RULES : undefined);
}

/** Returns the author's policies that judge in addition to the rules, and in addition to the budget's limits. */
export function findEvaluators(
  registry: Pick<Registry, 'agents' | 'policies'>,
  { evaluate }: AgentPolicy,
  agent: string,
): Pick<AskedAction, 'evaluator' | 'spender'> {
  const evaluator = evaluate === undefined ? undefined : registry.policies.get(evaluate);
  const spender = findSpendingPolicy(registry, agent);
  return { ...(evaluator ? { evaluator } : {}), ...(spender ? { spender } : {}) };
}

/** Returns what a person sees: what would be done, and why an approval is needed. */
export function showAction(asked: AskedAction, { action, decision }: JudgedAction) {
  const { args, name } = asked;
  const { id, kind, capabilities, description, artifacts = [] } = action;
  const call = `${name} ${JSON.stringify(args ?? {})}`;
  const confirm = decision.confirm === call ? undefined : decision.confirm;
  const summary = decision.confirm ?? description ?? call;
  const data = {
    actionId: id,
    kind,
    arguments: args ?? {},
    capabilities,
    // What the tool says of the call, beyond its arguments.
    description: confirm ?? description,
    artifacts,
    reason: decision.reason,
    grant: toGrantable(asked, { capabilities, decision }),
  };
  return { summary, data };
}

/** What an author's policy asks is asked again for other arguments. So is an action of the application, which has no schema. */
function toGrantable(
  { rules, callee, tool }: AskedAction,
  { capabilities, decision }: Pick<Action, 'capabilities'> & Pick<JudgedAction, 'decision'>,
): Grantable {
  const remote = tool?.remote !== undefined || tool?.a2a !== undefined;
  const widest = findWidest(rules.policy.grants, { capabilities, grantable: tool?.grantable, remote });
  if (!callee) return { ...widest, tool: 'once' };
  const digest = toolDigest(callee);
  return decision.policy === undefined ? { ...widest, digest } : { ...widest, tool: 'once', digest };
}

/** Covers what gives arguments their meaning. */
function toolDigest({ parameters, version }: NonNullable<AskedAction['callee']>): string {
  return sha256({ parameters: digestOf(parameters), version });
}

/** The tool that a grant may cover; undefined if each call is asked about for itself. */
export function toGrantedTool(
  asked: AskedAction,
  { action: { name, capabilities }, decision }: JudgedAction,
): GrantedTool | undefined {
  const { digest, tool } = toGrantable(asked, { capabilities, decision });
  if (digest === undefined || tool === 'once') return undefined;
  return { agent: asked.thread.agent, name, digest, capabilities };
}

/** Returns who confirms calls that this prompt makes. `prompt` is undefined at rest. */
export function findConfirms(
  { agents }: Pick<Registry, 'agents'>,
  agent: string,
  prompt: PromptDefinition | undefined,
): Pick<AskedAction, 'confirms'> {
  const { confirm } = findGuards(agents.get(agent), prompt);
  return confirm === undefined ? {} : { confirms: confirm };
}

/** A tool of an MCP server has the parameters that the server has listed in this execution. */
export async function calleeOf(
  { mcp }: Pick<ThreadStore, 'mcp'>,
  tool: ToolDefinition,
  { thread, executionId, signal }: Pick<AskedAction, 'thread' | 'executionId' | 'signal'>,
): Promise<AskedAction['callee']> {
  const { remote } = tool;
  if (!remote || executionId === undefined) return tool;
  const lists = await retryWhileUnavailable(signal, () => mcp.list(thread.id, executionId));
  const listed = lists.find(({ server }) => server === remote.server.name);
  return listed?.tools?.find(({ name }) => name === remote.tool) ?? tool;
}

/** By the schema, which is the same object for every call of a tool. */
const digests = new WeakMap<JsonSchema, string>();

function digestOf(parameters: JsonSchema): string {
  const digest = digests.get(parameters) ?? sha256(undescribed(parameters));
  digests.set(parameters, digest);
  return digest;
}

function sha256(value: unknown): string {
  return hash('sha256', canonicalJson(value));
}

/** Converts a requested call to an action. */
export function toAction({
  id,
  kind,
  name,
  callId,
  args,
  callee,
  prepared = {},
  ...asked
}: AskedAction): Action {
  const capabilities = [...new Set(asked.capabilities)].sort();
  const { description } = prepared;
  const shown = prepared.artifacts ?? [];
  // Covers all that will be done.
  const done = { kind, name, capabilities, args: args ?? null, description, artifacts: shown };
  const by = callee && { parameters: digestOf(callee.parameters), version: callee.version };
  const fingerprint = sha256({ ...done, callee: by });
  const artifacts = shown.map(({ kind = 'preview', ...artifact }) => ({ kind, ...artifact, actionId: id }));
  return {
    id,
    kind,
    name,
    ...(callId === undefined ? {} : { callId }),
    capabilities,
    fingerprint,
    ...(description === undefined ? {} : { description }),
    ...(artifacts.length > 0 ? { artifacts } : {}),
  };
}
