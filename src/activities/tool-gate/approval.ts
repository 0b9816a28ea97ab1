/**
 * Stage: a call that needs an approval waits for it before it begins. The call is then run again from the gate's first
 * stage, so that what is judged, prepared and fingerprinted is what will be done.
 * - An approval belongs to the call and the fingerprint that it was given for. A changed preparation asks again.
 * - A person may approve the call with changed arguments (core/wait/changed-arguments.ts). That is the approval, unless
 *   capabilities, description or artifacts are others than the person was shown: then those are asked for. Arguments
 *   that the tool does not accept are asked for again, and the model learns nothing of them.
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
import type { AnsweredCall } from '../../author/tool/check-arguments.ts';
import type { WaitingCall } from '../../core/thread/step.ts';
import { canonicalJson } from '../../core/value/canonical-json.ts';
import { cutMiddle } from '../../core/value/cut-middle.ts';
import { errorMessage, isRuntimeError, isStoreFault } from '../../core/value/error.ts';
import { refusedKey } from '../../core/wait/changed-arguments.ts';
import type { ActionDenial, DecidedAction } from '../../store/action/action-record.ts';
import type { Wait } from '../../store/wait/wait-record.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortError, abortSignal } from '../base/guard.ts';
import type { CallInfo } from './call-info.ts';
import { toWaitingCall } from './waiting-call.ts';

/** A call of any kind with its place in a step. */
interface JudgedCall extends Asked, Judged {
  readonly execution: Pick<CallInfo, 'step' | 'index' | 'waits' | 'call'>;
  /** Present if variables have been read. */
  readonly env?: Pick<ThreadEnv, 'redactKnown'>;
}

export async function askApproval(
  { store, registry, probe }: ActivityDependencies,
  { asked, action, execution, env }: JudgedCall,
) {
  if (!asked || !action) return go({ action });
  const { name, callId, executionId, signal } = asked;
  const { step, index, waits = [], call } = execution;
  const { fingerprint } = action.action;
  const { wait: answered } =
    waits.findLast(({ wait }) => wait.kind === 'approval' && wait.fingerprint === fingerprint) ?? {};
  if (answered) return judgeAnswer(action, answered);
  if (action.decision.effect !== 'require_approval') return go({ action });
  const show = () => {
    const shown = showAction(asked, action);
    return env ? env.redactKnown(shown) : shown;
  };
  const changed = waits.find(({ wait }) => wait.id === call.changed?.waitId)?.wait;
  if (changed && isShown(changed, show().data)) return go({ action });
  const earlier = await findEarlier(store, asked, action);
  if (earlier?.approved) return go({ action: { ...action, grant: earlier.grantId } });
  if (earlier) return refuseAction(action, toRefusal(earlier));
  if (asked.rules.policy.approvals === 'refuse') return refuseAction(action, toDenial(action.decision));
  const expiresInMs = registry().tools.get(name)?.approvalTimeoutMs;
  try {
    const opened = await retryWhileUnavailable(signal, () =>
      store.waits.open({
        id: randomUUID(),
        threadId: asked.thread.id,
        key: `approval:${step}:${index}:${fingerprint}`,
        kind: 'approval',
        name,
        ...show(),
        fingerprint,
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

/** True if the wait has shown all that would be done, but for the arguments, by the same schema and version of the tool. */
function isShown({ data }: Wait, now: ReturnType<typeof showAction>['data']): boolean {
  const seen = (data ?? {}) as Partial<typeof now>;
  const besides = ({ capabilities, description, artifacts, grant }: Partial<typeof now>) =>
    canonicalJson({ capabilities, description, artifacts, digest: grant?.digest });
  return besides(seen) === besides(now);
}

/**
 * Asks again if a person's changed arguments are why the call was refused: with what the wait has shown before, and the
 * problem. Undefined if the model is to read the refusal.
 */
export async function reopenApproval(
  { store, probe }: Pick<ActivityDependencies, 'store' | 'probe'>,
  { step, index, waits = [], call, thread, pending }: CallInfo,
  end: AnsweredCall | { readonly kind: string },
): Promise<WaitingCall | undefined> {
  const refused = waits.find(({ wait }) => wait.id === call.changed?.waitId);
  if (!refused || pending?.begun !== false || !('invalid' in end)) return undefined;
  const { kind, name, blocks, fingerprint, executionId, toolCallId, openedAt, expiresAt } = refused.wait;
  const { problem: before, ...data } = refused.wait.data as { readonly problem?: string };
  const asks = before === undefined ? refused.wait.summary : refused.wait.summary.slice(before.length + 1);
  const problem = cutMiddle(`The changed arguments were refused: ${end.result.error}`, PROBLEM_CHARS);
  const opened = await retryWhileUnavailable(abortSignal(), () =>
    store.waits.open({
      id: randomUUID(),
      threadId: thread.id,
      key: refusedKey(refused),
      kind,
      name,
      summary: `${problem}\n${asks}`,
      data: { ...data, problem },
      blocks,
      fingerprint,
      executionId,
      toolCallId,
      call: { step, index },
      expiresInMs: expiresAt === null ? undefined : Math.ceil((expiresAt - openedAt) / 1000),
    }),
  );
  await probe?.('wait_opened');
  if (opened.kind === 'open') return toWaitingCall(opened.wait);
  throw abortError();
}

const PROBLEM_CHARS = 1000;

function judgeAnswer(action: DecidedAction, { answer, state, reason }: Wait) {
  if (answer && 'approved' in answer && answer.approved) return go({ action });
  return refuseAction(action, toDenied(answer, reason ?? state));
}

/** No approval refuses. */
function toDenied(answer: Wait['answer'], why: string): ActionDenial {
  if (answer && 'approved' in answer) return toRefusal(answer);
  return { code: 'ActionDenied', reason: `Its approval was not given: ${why}.` };
}
