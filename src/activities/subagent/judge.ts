/**
 * Stages of a call that makes or messages a subagent: what it asks for, the hooks before it, the wait for its approval,
 * and its beginning if it may begin.
 */
import { parseArguments } from '../../core/message/tool-call.ts';
import { childPrompt } from '../../core/project/subagent.ts';
import type { AnsweredCall } from '../../state/check-arguments.ts';
import { go, type Nothing, type Verdict } from '../../state/gate.ts';
import type { Asked, Judged } from '../../state/judge-action.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { infoOf, openGuard } from '../tool/resumable-call.ts';
import { askApproval as askApprovalOf } from '../tool-gate/approval.ts';
import { toToolCall } from '../tool-gate/before-call.ts';
import {
  beginPending,
  type JudgePorts,
  type NotBegun,
  takes,
  toAskedAgent,
  toAskedTask,
} from '../tool-gate/judge-call.ts';
import type { ResolvedCall, SubagentCall } from './callee.ts';

/** `subagent`: present once it is resolved. */
export function askSubagent(
  { registry }: JudgePorts,
  { call, subagent }: SubagentCall & Partial<ResolvedCall>,
): Verdict<Asked, never> {
  const project = registry();
  const args = parseArguments(call.begun.call.arguments);
  const { executionId } = call;
  const task = project.tools.get(call.begun.call.name);
  if (task?.startsTask !== undefined)
    return go({ asked: toAskedTask(project, infoOf(call), { args, callee: task, executionId }) });
  const callee = subagent && takes(childPrompt(project, subagent)?.requiredSchema);
  return go({ asked: toAskedAgent(project, infoOf(call), { args, callee, executionId }) });
}

/** Runs `before_tool_call`. A call whose arguments cannot be parsed passes, since a later stage refuses it. */
export async function beforeSubagentCall(
  ports: ActivityDependencies,
  { call }: SubagentCall,
): Promise<Verdict<SubagentCall, AnsweredCall>> {
  const guard = openGuard(ports, call);
  const args = guard && parseArguments(call.begun.call.arguments);
  if (!guard || !args) return go({ call });
  const guarded = await guard(toToolCall(call.begun.call), args);
  if (guarded.kind === 'end') return guarded;
  const { changed } = guarded.added;
  if (!changed) return go({ call });
  const changedCall = { ...call.begun.call, arguments: JSON.stringify(changed) };
  return go({ call: { ...call, begun: { ...call.begun, call: changedCall } } });
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
