/** Stages: what the policy says of a call that makes a subagent, or tells one, and the beginning of the call where it may be. */
import { OWN_CAPABILITIES } from '../../core/governance/agent-policy.ts';
import type { Nothing, Verdict } from '../../state/gate.ts';
import type { Judged } from '../../state/judge-action.ts';
import { infoOf } from '../tool/resumable-call.ts';
import {
  beginPending,
  type Judgement,
  type JudgePorts,
  judgeCall,
  type NotBegun,
} from '../tool-gate/judge-call.ts';
import type { SubagentCall } from './callee.ts';

export function judgeSubagent({ registry }: JudgePorts, { call }: SubagentCall): Judgement {
  return judgeCall(registry(), infoOf(call), 'agent.call', [OWN_CAPABILITIES['agent.call']]);
}

export async function beginJudgedSubagent(
  _ports: unknown,
  { call, action }: SubagentCall & Judged,
): Promise<Verdict<Nothing, NotBegun>> {
  return beginPending(call.begun.pending, action);
}
