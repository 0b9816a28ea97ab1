/**
 * The tool gate for calls of subagents, up to the child (runtime §3.3, §7, §8.1). The numbers are those of
 * `tool-gate/tool-gate.ts`, whose RESULT stores what `finishSubagent` has composed, or the answer of a stage here.
 */

import { go, openGate } from '../../author/policy/gate.ts';
import { type Asked, type Judged, judgeAction, refuseDenied } from '../../author/policy/judge-action.ts';
import { parseArguments } from '../../core/message/tool-call.ts';
import { childPrompt, SUBAGENT_CREATE, SUBAGENT_MESSAGE } from '../../core/project/subagent.ts';
import type { WaitingCall } from '../../core/thread/step.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { infoOf, openGuard, type ResumableCall } from '../tool/resumable-call.ts';
import { askApproval as askApprovalOf } from '../tool-gate/approval.ts';
import { toToolCall } from '../tool-gate/before-call.ts';
import { beginPending, type JudgePorts, takes, toAskedAgent, toAskedTask } from '../tool-gate/judge-call.ts';
import {
  limitChildren,
  type ResolvedCall,
  resolveNamedCallee,
  resolveOwnCallee,
  type SubagentCall,
} from './callee.ts';
import { bootstrap } from './immediate-bootstrap.ts';
import {
  checkNamedArguments,
  composeFirst,
  findFirstFiles,
  findMessageFiles,
  readCreateFields,
  readMessageFields,
  readOwnArguments,
} from './input.ts';
import { type MadeChild, makeChild, requireChildVariables, type UnmadeChild } from './make.ts';
import { resolveChild, sendToChild } from './send-to-child.ts';
import { makeTask, readInputs, resolveTask } from './task-call.ts';

const openCall = () =>
  openGate<ActivityDependencies, SubagentCall, UnmadeChild | WaitingCall>()
    .stage(limitChildren) //        1 within the limit of calls per answer
    .stage(askSubagent) //          4 policy: what the call asks for
    .stage(refuseDenied) //         4 policy: refused if a declared capability is denied
    .stage(beforeSubagentCall); //  4 hooks before; their arguments are checked like the model's

/** A call by the agent's own name. */
const OWN = openCall()
  .stage(resolveOwnCallee) //       1 resolve: a subagent that is listed and enabled
  .stage(askSubagent) //            4 policy: what the call asks for
  .stage(judgeAction) //            4 policy: the decision on that action
  .stage(askApproval) //            4 policy: waits for an approval
  .stage(beginJudged) //            4 scheduled → started, unless it had begun before
  .stage(bootstrap) //              5 body: name and first message of an immediate one, by a model
  .stage(readOwnArguments) //       5 body: what the child's prompt asks for, and its first message
  .stage(findFirstFiles) //         5 body: files of the parent
  .stage(requireChildVariables) //  5 body: required variables have values
  .stage(makeChild); //             5 body: the child's thread

/** `subagent_create`. */
const CREATE = openCall()
  .stage(readCreateFields) //       2
  .stage(resolveNamedCallee) //     1
  .stage(checkNamedArguments) //    2
  .stage(askSubagent) //            4
  .stage(judgeAction) //            4
  .stage(askApproval) //            4
  .stage(beginJudged) //            4
  .stage(bootstrap) //              5
  .stage(composeFirst) //           5
  .stage(findFirstFiles) //         5
  .stage(requireChildVariables) //  5
  .stage(makeChild); //             5

/** `subagent_message`. */
const MESSAGE = openCall()
  .stage(readMessageFields) //      2
  .stage(resolveChild) //           1 resolve: a child that may be messaged
  .stage(findMessageFiles) //          2
  .stage(askSubagent) //            4
  .stage(judgeAction) //            4
  .stage(askApproval) //            4
  .stage(beginJudged) //            4
  .stage(sendToChild); //             5 body: the message to the child

/** A task, by the name of the tool that starts it. */
const TASK = openCall()
  .stage(resolveTask) //            1 resolve: a task that the prompt lists
  .stage(askSubagent) //            4
  .stage(judgeAction) //            4
  .stage(askApproval) //            4
  .stage(beginJudged) //            4
  .stage(readInputs) //             5 body: the inputs of the task
  .stage(makeTask); //              5 body: the task

export async function passSubagentGate(
  dependencies: ActivityDependencies,
  call: ResumableCall,
): Promise<MadeChild['outcome'] | UnmadeChild | WaitingCall> {
  const passed = await gateOf(dependencies, call.begun.call.name).pass(dependencies, { call });
  return passed.kind === 'go' ? passed.known.outcome : passed.end;
}

function gateOf(
  { registry }: ActivityDependencies,
  name: string,
): Pick<typeof OWN | typeof CREATE | typeof MESSAGE | typeof TASK, 'pass'> {
  if (registry().tools.get(name)?.startsTask !== undefined) return TASK;
  if (name === SUBAGENT_MESSAGE) return MESSAGE;
  return name === SUBAGENT_CREATE ? CREATE : OWN;
}

/** `subagent`: present once it is resolved. */
function askSubagent({ registry }: JudgePorts, { call, subagent }: SubagentCall & Partial<ResolvedCall>) {
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
async function beforeSubagentCall(ports: ActivityDependencies, { call }: SubagentCall) {
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

function askApproval(
  ports: Parameters<typeof askApprovalOf>[0],
  { call, ...judged }: SubagentCall & Asked & Judged,
): ReturnType<typeof askApprovalOf> {
  return askApprovalOf(ports, { ...judged, execution: infoOf(call) });
}

async function beginJudged(_ports: unknown, { call, action }: SubagentCall & Judged) {
  return beginPending(call.begun.pending, action);
}
