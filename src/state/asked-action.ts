/**
 * A call as it asks to be done, before it is judged; and the action that it is then.
 * A1. The fingerprint is over all that will be done: whoever agrees to it agrees to these arguments and to nothing else.
 */
import { createHash } from 'node:crypto';
import type { PromptDefinition, Registry, ToolDefinition } from '../core/author/definition.ts';
import type { PolicyDefinition } from '../core/author/policy.ts';
import {
  type ActingRules,
  type Action,
  type AgentPolicy,
  findRules,
  type JudgedAction,
  NO_RULES,
  OWN_CAPABILITIES,
} from '../core/governance/agent-policy.ts';
import type { PreparedAction } from '../core/governance/prepared-action.ts';
import type { RunContext } from '../core/governance/run-context.ts';
import { findGuards, type Guards } from '../core/guard/guards.ts';
import { canonicalJson } from '../core/value/canonical-json.ts';
import type { ThreadRecord } from '../store/port/thread.ts';
import { findSpender } from './judge-spending.ts';

/** A call, as it asks to be done. */
export interface AskedAction extends Pick<Action, 'id' | 'kind' | 'name' | 'callId' | 'capabilities'> {
  readonly rules: ActingRules;
  readonly thread: ThreadRecord;
  /** Absent at rest. */
  readonly executionId?: string;
  /** Checked ones. */
  readonly args: unknown;
  readonly prepared?: PreparedAction;
  /** The policy that the agent names beside its rules. */
  readonly evaluator?: PolicyDefinition;
  /** The one that its budget names beside its limits. */
  readonly spender?: PolicyDefinition;
  /** Who confirms it, where its tool wants that; a person unless this says otherwise. */
  readonly confirms?: Guards['confirm'];
  /** Of the calling step. */
  readonly step?: number;
  readonly runContext?: RunContext | null;
  readonly signal: AbortSignal;
}

/** What a call of the tool needs to be allowed. */
export function capabilitiesOf({ capabilities, runsCode }: ToolDefinition): readonly string[] {
  return capabilities ?? (runsCode ? [OWN_CAPABILITIES.runsCode] : []);
}

/** What judges a call of this name; undefined where nothing does. What its tool or its budget's policy asks about is judged by no rule. */
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

/** The policies of an author that judge beside the rules, and beside the limits. */
export function findEvaluators(
  registry: Pick<Registry, 'agents' | 'policies'>,
  { evaluate }: AgentPolicy,
  agent: string,
): Pick<AskedAction, 'evaluator' | 'spender'> {
  const evaluator = evaluate === undefined ? undefined : registry.policies.get(evaluate);
  const spender = findSpender(registry, agent);
  return { ...(evaluator ? { evaluator } : {}), ...(spender ? { spender } : {}) };
}

/** What a person is shown: what would be done, and why it is asked. */
export function showAction({ args, name }: AskedAction, { action, decision }: JudgedAction) {
  const { id, kind, capabilities, description, artifacts = [] } = action;
  const summary = decision.confirm ?? description ?? `${name} ${JSON.stringify(args ?? {})}`;
  const data = {
    actionId: id,
    kind,
    arguments: args ?? {},
    capabilities,
    artifacts,
    reason: decision.reason,
  };
  return { summary, data };
}

/** Who confirms calls that this prompt makes; at rest there is none. */
export function findConfirms(
  { agents }: Pick<Registry, 'agents'>,
  agent: string,
  prompt: PromptDefinition | undefined,
): Pick<AskedAction, 'confirms'> {
  const { confirm } = findGuards(agents.get(agent), prompt);
  return confirm === undefined ? {} : { confirms: confirm };
}

/** The action that the call would be. */
export function toAction({ id, kind, name, callId, args, prepared = {}, ...asked }: AskedAction): Action {
  const capabilities = [...new Set(asked.capabilities)].sort();
  const { description } = prepared;
  const shown = prepared.artifacts ?? [];
  // A1: all that will be done.
  const done = canonicalJson({ kind, name, capabilities, args: args ?? null, description, artifacts: shown });
  const fingerprint = createHash('sha256').update(done).digest('hex');
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
