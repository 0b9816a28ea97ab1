/**
 * `callSubagent`: a call of a subagent, up to a child that is to be started or has received a message (runtime §7,
 * §8.1, definitions §13.3, §13.4). `finishSubagent` makes the call's result.
 * - All attempts are the same to the store: the child or the message of a call is found by the call, and made once.
 * - A problem with the call becomes its result, which says what to do instead.
 *
 * The stages of the tool gate for calls of subagents, up to the child. The numbers are those of `tool-gate/tool-gate.ts`,
 * whose RESULT stores what `finishSubagent` has composed, or the answer of a stage here.
 */

import { go, openGate } from '../../author/policy/gate.ts';
import { judgeAction, refuseDenied } from '../../author/policy/judge-action.ts';
import { parseArguments } from '../../core/message/tool-call.ts';
import { childPrompt, SUBAGENT_CREATE, SUBAGENT_MESSAGE } from '../../core/project/subagent.ts';
import type { SubagentAttempt, ToolCallInput, WaitingCall } from '../../core/thread/step.ts';
import { isRuntimeError } from '../../core/value/error.ts';
import type { ChildCall } from '../../store/family/family-record.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { toAttemptOutcome, toSettled } from '../tool/record-tool-outcome.ts';
import { beginAsked, openGuard, type ResumableCall, settleCall } from '../tool/resumable-call.ts';
import { askApproval, reopenApproval } from '../tool-gate/approval.ts';
import { toToolCall } from '../tool-gate/before-call.ts';
import { beginJudged, type JudgePorts, takes, toAskedAgent, toAskedTask } from '../tool-gate/judge-call.ts';
import { limitCalls } from '../tool-gate/resolve-call.ts';
import { type ResolvedCall, resolveNamedCallee, resolveOwnCallee, type SubagentCall } from './callee.ts';
import { finishSubagent, readWaitsBelow } from './finish.ts';
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
import {
  type MadeChild,
  makeChild,
  requireChildVariables,
  runChildCreatedHooks,
  type UnmadeChild,
} from './make.ts';
import { resolveChild, sendToChild, wakeChild } from './send-to-child.ts';
import { makeTask, readInputs, resolveTask } from './task-call.ts';

export async function callSubagent(
  dependencies: ActivityDependencies,
  input: ToolCallInput,
): Promise<SubagentAttempt> {
  const { store, probe } = dependencies;
  const begun = await beginAsked(dependencies, input, 'subagent');
  if (begun.kind === 'over') return toSettled(begun.outcome);
  await probe?.('subagent_begun');
  const { call } = begun;
  // Every attempt is the same.
  const known = await store.children.readCall(call.key.threadId, {
    step: call.key.step,
    index: call.key.index,
  });
  if (known) return resume(dependencies, input, call, known);
  const made = await passSubagentGate(dependencies, call).catch(toAnswered);
  if (made.kind === 'not_begun') return toSettled(toAttemptOutcome(made.begun));
  if (made.kind !== 'answered') return made;
  // A fault is its result.
  return toSettled(await settleCall(dependencies, call, made));
}

/** An earlier attempt has made the child, or sent it the message, and its result may not have reached the workflow. */
async function resume(
  dependencies: ActivityDependencies,
  input: ToolCallInput,
  call: ResumableCall,
  { start, started, waits, report }: ChildCall,
): Promise<SubagentAttempt> {
  if (report) {
    const finished = await finishSubagent(dependencies, input);
    if (finished.kind !== 'waiting') return toSettled(finished);
  }
  if (call.begun.call.name === SUBAGENT_MESSAGE) await wakeChild(dependencies, start.threadId);
  else if (!started) await runChildCreatedHooks(dependencies, call, start.threadId);
  const below = waits ? await readWaitsBelow(dependencies.store, call.key.threadId) : {};
  return { kind: 'child', child: start, start: !started, wait: waits, ...below };
}

/** Variables that this worker cannot read, or that cannot be stored. No child was made. */
function toAnswered(error: unknown): UnmadeChild {
  if (isRuntimeError(error, 'InvalidConfiguration') || isRuntimeError(error, 'InvalidVariable')) {
    const result = { status: 'error', error: `The subagent was not called: ${error.message}` } as const;
    return { kind: 'answered', result };
  }
  throw error;
}

const openCall = () =>
  openGate<ActivityDependencies, SubagentCall, UnmadeChild | WaitingCall>()
    .stage(limitCalls) //        1 within the limit of calls per answer
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
  const known = { call, execution: call.begun };
  const passed = await gateOf(dependencies, call.begun.call.name).pass(dependencies, known);
  if (passed.kind === 'go') return passed.known.outcome;
  return (await reopenApproval(dependencies, call.begun, passed.end)) ?? passed.end;
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
function askSubagent(
  { registry }: JudgePorts,
  { call, execution, subagent }: SubagentCall & Partial<ResolvedCall>,
) {
  const project = registry();
  const args = parseArguments(call.begun.call.arguments);
  const { executionId } = call;
  const task = project.tools.get(call.begun.call.name);
  if (task?.startsTask !== undefined)
    return go({ asked: toAskedTask(project, execution, { args, callee: task, executionId }) });
  const callee = subagent && takes(childPrompt(project, subagent)?.requiredSchema);
  return go({ asked: toAskedAgent(project, execution, { args, callee, executionId }) });
}

/** Runs `before_tool_call`. A call whose arguments cannot be parsed passes, since a later stage refuses it. */
async function beforeSubagentCall(ports: ActivityDependencies, { call }: SubagentCall) {
  const guard = openGuard(ports, call);
  const args = guard && parseArguments(call.begun.call.arguments);
  if (!guard || !args) return go();
  const guarded = await guard(toToolCall(call.begun.call), args);
  if (guarded.kind === 'end') return guarded;
  const { changed } = guarded.added;
  if (!changed) return go();
  const changedCall = { ...call.begun.call, arguments: JSON.stringify(changed) };
  const known = { ...call, begun: { ...call.begun, call: changedCall } };
  return go({ call: known, execution: known.begun });
}
