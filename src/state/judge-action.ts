/**
 * Stage of the tool gate: what does the agent's policy say of the call? Nothing of it is done before that.
 * J1. Where the agent has no policy nothing is judged, told or stored.
 */
import type { ToolDefinition } from '../core/author/definition.ts';
import { type Action, type AgentPolicy, OWN_CAPABILITIES } from '../core/governance/agent-policy.ts';
import { decide, type PolicyDecision } from '../core/governance/capability-policy.ts';
import type { ErrorCode } from '../core/value/error.ts';
import type { ToldAction } from '../store/port/action.ts';
import { type AnsweredCall, refuseCall } from './check-arguments.ts';
import { go, type Verdict } from './gate.ts';

/** Adds what was judged; undefined where nothing was. */
export interface Judged {
  readonly action: ToldAction | undefined;
}

export function judgeAction(
  policy: AgentPolicy | undefined,
  { capabilities, ...asked }: Action,
): Verdict<Judged, AnsweredCall> {
  // J1: nothing is judged.
  if (!policy) return go({ action: undefined });
  const action = { ...asked, capabilities: [...new Set(capabilities)].sort() };
  const decision = decide(policy, action.capabilities);
  if (decision.effect === 'allow') return go({ action: { action, decision } });
  return refuseAction({ action, decision });
}

/** What a call of the tool needs to be allowed. */
export function capabilitiesOf({ capabilities, runsCode }: ToolDefinition): readonly string[] {
  return capabilities ?? (runsCode ? [OWN_CAPABILITIES.runsCode] : []);
}

function refuseAction(judged: Pick<ToldAction, 'action' | 'decision'>): Verdict<never, AnsweredCall> {
  const denied = toDenial(judged.decision);
  const { action, decision } = judged;
  return refuseCall(`${denied.code}: "${action.name}" was not done. ${denied.reason}`, {
    error_code: denied.code,
    error_data: { actionId: action.id, effect: decision.effect, capabilities: decision.matchedCapabilities },
    action: { ...judged, denied },
  });
}

function toDenial({ effect, reason }: PolicyDecision): { code: ErrorCode; reason: string } {
  if (effect === 'deny') return { code: 'ActionDenied', reason: `${reason}.` };
  return { code: 'ApprovalRequired', reason: `${reason}, and nobody can be asked here.` };
}
