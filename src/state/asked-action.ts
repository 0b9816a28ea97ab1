/**
 * A call as it asks to be done, before it is judged; and the action that it is then.
 * A1. The fingerprint is over all that will be done: whoever agrees to it agrees to these arguments and to nothing else.
 */
import { createHash } from 'node:crypto';
import type { Registry, ToolDefinition } from '../core/author/definition.ts';
import type { PolicyDefinition } from '../core/author/policy.ts';
import {
  type ActingRules,
  type Action,
  type AgentPolicy,
  OWN_CAPABILITIES,
} from '../core/governance/agent-policy.ts';
import type { PreparedAction } from '../core/governance/prepared-action.ts';
import type { RunContext } from '../core/governance/run-context.ts';
import { canonicalJson } from '../core/value/canonical-json.ts';
import type { ThreadRecord } from '../store/port/thread.ts';

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
  readonly runContext?: RunContext | null;
  readonly signal: AbortSignal;
}

/** What a call of the tool needs to be allowed. */
export function capabilitiesOf({ capabilities, runsCode }: ToolDefinition): readonly string[] {
  return capabilities ?? (runsCode ? [OWN_CAPABILITIES.runsCode] : []);
}

/** The policy of an author that judges beside the rules. */
export function findEvaluator(
  { policies }: Pick<Registry, 'policies'>,
  { evaluate }: AgentPolicy,
): Pick<AskedAction, 'evaluator'> {
  const evaluator = evaluate === undefined ? undefined : policies.get(evaluate);
  return evaluator ? { evaluator } : {};
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
