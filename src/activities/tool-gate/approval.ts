/**
 * Stage: a call that needs an approval waits for it before it begins. The call is then run again from the gate's first
 * stage, so that what is judged, prepared and fingerprinted is what will be done.
 * - An approval belongs to the call and the fingerprint that it was given for. A changed preparation asks again, and
 *   the arguments are never taken from the person who answers.
 * - Anything but an approval refuses: a denial, a time-out, a wait that was closed, a wait that cannot be opened.
 * - A call that the budget can never allow asks for no approval. It ends as denied by the budget, before the wait is
 *   opened.
 * - An answer counts even if no approval is required any more: a refusal stays one when the policy changes.
 */
import { randomUUID } from 'node:crypto';
import { retryWhileUnavailable } from '../../author/guard/retry-while-unavailable.ts';
import { showAction } from '../../author/policy/asked-action.ts';
import { end, go } from '../../author/policy/gate.ts';
import {
  type Asked,
  findEarlier,
  type Judged,
  refuseAction,
  toDenial,
  toRefusal,
} from '../../author/policy/judge-action.ts';
import type { ThreadEnv } from '../../author/state/thread-env.ts';
import { errorMessage, isRuntimeError, isStoreFault } from '../../core/value/error.ts';
import type { ActionDenial, DecidedAction } from '../../store/action/action-record.ts';
import type { Wait } from '../../store/wait/wait-record.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortError } from '../base/guard.ts';
import type { CallInfo } from './call-info.ts';
import { toWaitingCall } from './waiting-call.ts';

/** A call of any kind with its place in a step. */
interface JudgedCall extends Asked, Judged {
  readonly execution: Pick<CallInfo, 'step' | 'index' | 'waits'>;
  /** Present if variables have been read. */
  readonly env?: Pick<ThreadEnv, 'redactKnown'>;
}

export async function askApproval(
  { store, registry, probe }: ActivityDependencies,
  { asked, action, execution, env }: JudgedCall,
) {
  if (!asked || !action) return go();
  const { name, callId, executionId, signal } = asked;
  const { step, index, waits = [] } = execution;
  // For this call and this fingerprint.
  const key = `approval:${step}:${index}:${action.action.fingerprint}`;
  const { wait: answered } = waits.findLast((each) => each.key === key) ?? {};
  if (answered) return judgeAnswer(action, answered);
  if (action.decision.effect !== 'require_approval') return go();
  const earlier = await findEarlier(store, asked, action);
  if (earlier) return earlier.approved ? go() : refuseAction(action, toRefusal(earlier));
  if (asked.rules.policy.approvals === 'refuse') return refuseAction(action, toDenial(action.decision));
  const expiresInMs = registry().tools.get(name)?.approvalTimeoutMs;
  const shown = showAction(asked, action);
  try {
    const opened = await retryWhileUnavailable(signal, () =>
      store.waits.open({
        id: randomUUID(),
        threadId: asked.thread.id,
        key,
        kind: 'approval',
        name,
        ...(env ? env.redactKnown(shown) : shown),
        fingerprint: action.action.fingerprint,
        blocks: true,
        executionId,
        toolCallId: callId,
        call: { step, index },
        action,
        expiresInMs,
      }),
    );
    await probe?.('wait_opened');
    if (opened.kind === 'open') return end(toWaitingCall(opened.wait));
    if (opened.kind === 'over') return judgeAnswer(action, opened.wait);
    if (opened.kind === 'exceeded') return end({ kind: 'not_begun', begun: { ...opened, name } });
  } catch (error) {
    if (!isRuntimeError(error) || isStoreFault(error)) throw error;
    // The call cannot be shown to anyone, so it cannot be approved.
    const reason = `Its approval could not be requested: ${errorMessage(error)}`;
    return refuseAction(action, { code: 'ApprovalRequired', reason });
  }
  // The call or its thread is over: the activity is left to another attempt.
  throw abortError();
}

function judgeAnswer(action: DecidedAction, { answer, state, reason }: Wait) {
  if (answer && 'approved' in answer && answer.approved) return go();
  return refuseAction(action, toDenied(answer, reason ?? state));
}

/** No approval refuses. */
function toDenied(answer: Wait['answer'], why: string): ActionDenial {
  if (answer && 'approved' in answer) return toRefusal(answer);
  return { code: 'ActionDenied', reason: `Its approval was not given: ${why}.` };
}
