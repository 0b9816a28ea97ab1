/**
 * The tool gate: the stages around a call, in order (runtime §5, definitions §12.4). A call of any kind is answered,
 * then stored:
 *
 *   a tool       FUNCTION answers it, within `runTool` or `runCode`, also if a person or code has queued it
 *   an agent     HANDOFF answers it, if the agent takes the thread over
 *   a prompt     PROMPT lets it begin, its step answers it (subprompt/), `finishSubprompt` composes the answer
 *   a subagent   subagent/call.ts lets it begin, its thread answers it, `finishSubagent` composes the answer
 *
 * RESULT then stores the answer of each. A tool that code invokes passes the stages that concern it (author/state/tools.ts).
 * A call has begun when it comes here: `toolCalls.begin` has moved it from scheduled to started
 * (store/tool/tool.ts). If its agent has a policy, or there are hooks before it, it begins within the gate,
 * after them; a call that is refused before that has not begun.
 */

import { confirmCall } from '../../author/policy/confirm-call.ts';
import { go, openGate, type Passed } from '../../author/policy/gate.ts';
import {
  judgeAction,
  prepareAction,
  recheckArguments,
  refuseDenied,
} from '../../author/policy/judge-action.ts';
import {
  type AnsweredCall,
  checkToolArguments,
  requireVariables,
} from '../../author/tool/check-arguments.ts';
import type { AgentDefinition } from '../../core/author/definition.ts';
import type { MessageItem } from '../../core/thread/item.ts';
import type { LaterCall, ToolCallOutcome, WaitingCall } from '../../core/thread/step.ts';
import { errorMessage, isRuntimeError } from '../../core/value/error.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { isTransient } from '../base/guard.ts';
import { askApproval, reopenApproval } from './approval.ts';
import { beforePromptCall, beforeToolCall, type GuardedCall } from './before-call.ts';
import type { CallAnswer, KnownCall, ToolResultKey } from './call-info.ts';
import { afterCreateMessage, commitResult, giveUpCall } from './commit-result.ts';
import { askHandoff, askPrompt, askTool, beginJudged, type NotBegun } from './judge-call.ts';
import {
  checkPromptArguments,
  type PromptArguments,
  type ReadMessage,
  readFirstMessage,
} from './prompt-input.ts';
import {
  findHandoff,
  limitCalls,
  limitDepth,
  requireListed,
  resolveHandoff,
  resolvePrompt,
  resolveTool,
} from './resolve-call.ts';
import {
  type AnsweredFrame,
  afterToolCall,
  applyBinding,
  beforeCreateMessage,
  beforeStoreResult,
  redactResult,
  showChangedArguments,
  storeFiles,
  takeScratch,
} from './result-hooks.ts';
import { type AbortedCall, type LostCall, parseToolArguments, redactAnswer, runBody } from './run-body.ts';
import type { ToolFrame } from './tool-frame.ts';

type Unanswered = AbortedCall | WaitingCall | LaterCall | LostCall | NotBegun;

const FUNCTION = openGate<ActivityDependencies, ToolFrame, AnsweredCall | Unanswered>()
  .stage(limitCalls) //            1 within the limit of calls per answer
  .stage(resolveTool) //           1 resolve
  .stage(requireListed) //         1 listed by the active prompt, or called by code
  .stage(parseToolArguments) //    2 arguments: a JSON object
  .stage(checkToolArguments) //    2 arguments: what the schema asks for
  .stage(requireVariables) //      3 required variables have values
  .stage(askTool) //               4 policy: what the call asks for
  .stage(refuseDenied) //          4 policy: refused if a declared capability is denied
  .stage(beforeToolCall) //        4 hooks before: may refuse it, or give it other arguments
  .stage(prepareAction) //         4 policy: the action as its tool prepares it
  .stage(judgeAction) //           4 policy: the decision on that action
  .stage(confirmCall) //           4 policy: confirmation, if its tool wants one
  .stage(askApproval) //           4 policy: waits for an approval
  .stage(recheckArguments) //      4 policy: what is done is what was judged
  .stage(beginJudged) //           4 scheduled → started, unless it had begun before
  .stage(runBody) //               5 body, within its time
  .stage(redactAnswer); //         6 redaction

type HandoffFrame = ToolFrame & GuardedCall & { readonly agent: AgentDefinition };

const HANDOFF = openGate<ActivityDependencies, HandoffFrame, AnsweredCall | WaitingCall | NotBegun>()
  .stage(limitCalls) //            1
  .stage(requireListed) //         1
  .stage(resolveHandoff) //        1 resolve: an agent that may take this thread over
  .stage(checkPromptArguments) //  2
  .stage(askHandoff) //            4
  .stage(refuseDenied) //          4
  .stage(beforePromptCall) //      4
  .stage(judgeAction) //           4
  .stage(askApproval) //           4
  .stage(beginJudged) //           4
  .stage(readFirstMessage) //      5 body: the first message that the arguments make
  .stage(handOff); //              5 body: names the next agent

/** Up to the step of the prompt, which subprompt/ opens and answers. */
export const PROMPT = openGate<
  ActivityDependencies,
  KnownCall & GuardedCall & { readonly executionId: string },
  AnsweredCall | WaitingCall | NotBegun
>()
  .stage(limitCalls) //            1
  .stage(resolvePrompt) //         1
  .stage(requireListed) //         1
  .stage(limitDepth) //            1 prompts within prompts
  .stage(checkPromptArguments) //  2
  .stage(askPrompt) //             4
  .stage(refuseDenied) //          4
  .stage(beforePromptCall) //      4
  .stage(judgeAction) //           4
  .stage(askApproval) //           4
  .stage(beginJudged) //           4
  .stage(readFirstMessage); //     5 body: the first message that the arguments make

const RESULT = openGate<ActivityDependencies, AnsweredFrame, ToolCallOutcome>()
  .stage(takeScratch) //           7 what the body has left in `state.context`
  .stage(afterToolCall) //         8 hooks after: may replace the result, or remove the call
  .stage(applyBinding) //          8 what it means to the session
  .stage(beforeStoreResult) //     8 hooks before it is stored
  .stage(redactResult) //          9 redaction of what hooks have made of it
  .stage(storeFiles) //           10 files of the result
  .stage(showChangedArguments) // 10 arguments that a person has changed
  .stage(beforeCreateMessage) //  10 hooks on the tool message
  .stage(commitResult); //        11 one transaction

type Answered = ({ readonly kind: 'answered' } & CallAnswer) | Unanswered;

/** Answers a call of a tool, or a handoff. */
export async function answerCall(dependencies: ActivityDependencies, frame: ToolFrame): Promise<Answered> {
  const agent = findHandoff(dependencies.registry(), frame.execution.call.name);
  const guard = frame.hooks.beforeToolCall;
  const passed: Passed<CallAnswer, AnsweredCall | Unanswered> = agent
    ? await HANDOFF.pass(dependencies, { ...frame, agent, guard })
    : await FUNCTION.pass(dependencies, frame);
  if (passed.kind === 'end')
    return (await reopenApproval(dependencies, frame.execution, passed.end)) ?? passed.end;
  const { result, handoff } = passed.known;
  return { kind: 'answered', result, handoff };
}

/**
 * Stores the answer of any call, through the hooks around its result. If it cannot be stored, that error becomes the
 * result: the worker was not lost, and the body does not run again.
 */
export async function storeAnswered(
  dependencies: ActivityDependencies,
  frame: ToolFrame,
  { key, answer }: { readonly key: ToolResultKey; readonly answer: CallAnswer },
): Promise<ToolCallOutcome> {
  const call: AnsweredFrame = { ...frame, key, answer };
  const passed = await RESULT.pass(dependencies, call).catch(async (error: unknown) => {
    if (isTransient(error, frame.execution.signal)) throw error;
    return { kind: 'end', end: await storeFailure(dependencies, call, error) } as const;
  });
  // 12: the result is stored, whatever happens here.
  return passed.kind === 'go' ? afterCreateMessage(dependencies, passed.known) : passed.end;
}

async function storeFailure(
  { store }: ActivityDependencies,
  { key, env, execution }: AnsweredFrame,
  failure: unknown,
): Promise<ToolCallOutcome> {
  const code = isRuntimeError(failure) ? failure.code : 'Fault';
  const { error = '' } = await env.redact({ status: 'error', error: errorMessage(failure) });
  const message = `The call was answered, but its answer could not be stored: ${error}`;
  return giveUpCall(store, key, execution.call.name, { code, message });
}

/**
 * The body of a handoff (definitions §12.7): a call that names an `ai_human` agent gives it the thread once the step is
 * over. The call itself only records that; the store keeps the next agent and its first message along with the result.
 */
interface HandoffCall extends ToolFrame, ReadMessage {
  readonly agent: AgentDefinition;
  readonly args: PromptArguments;
}

function handOff(_ports: unknown, { agent, args, scratch, message, nextId }: HandoffCall) {
  // Those of the agent's side A, whose prompt may show them.
  Object.assign(scratch.flow.scratch, args);
  const first: MessageItem | undefined = message && {
    kind: 'message',
    id: nextId(),
    role: 'user',
    ...message,
  };
  return go({
    result: { status: 'success', result: `Handed over to ${agent.title ?? agent.name}.` },
    handoff: { nextAgent: agent.name, nextInput: first },
  });
}
