/** Stages: what a call asks for that makes a subagent, or tells one, the wait for its approval, and the beginning of the call where it may be. */
import { parseArguments } from '../../core/message/tool-call.ts';
import { go, type Nothing, type Verdict } from '../../state/gate.ts';
import type { Asked, Judged } from '../../state/judge-action.ts';
import { infoOf } from '../tool/resumable-call.ts';
import { askApproval as askApprovalOf } from '../tool-gate/approval.ts';
import { beginPending, type JudgePorts, type NotBegun, toAskedAgent } from '../tool-gate/judge-call.ts';
import type { SubagentCall } from './callee.ts';

export function askSubagent({ registry }: JudgePorts, { call }: SubagentCall): Verdict<Asked, never> {
  const args = parseArguments(call.begun.call.arguments);
  return go({ asked: toAskedAgent(registry(), infoOf(call), { args, executionId: call.executionId }) });
}

export function askApproval(
  ports: Parameters<typeof askApprovalOf>[0],
  { call, ...judged }: SubagentCall & Asked & Judged,
): ReturnType<typeof askApprovalOf> {
  return askApprovalOf(ports, { ...judged, execution: infoOf(call) });
}

export async function beginJudged(
  _ports: unknown,
  { call, action }: SubagentCall & Judged,
): Promise<Verdict<Nothing, NotBegun>> {
  return beginPending(call.begun.pending, action);
}
