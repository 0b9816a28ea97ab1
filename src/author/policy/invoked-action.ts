/**
 * Stages for what code does itself, an invoked tool or an action by `state.act`: it is paid for, recorded as begun
 * before anything is done, and its end is recorded afterwards.
 */
import { ACTION_LEASE } from '../../core/governance/action-lease.ts';
import type { ToolStatus } from '../../core/message/message.ts';
import { errorMessage } from '../../core/value/error.ts';
import type { DecidedAction } from '../../store/action/action-record.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { CallerContext } from '../state/caller-context.ts';
import type { AnsweredCall } from '../tool/check-arguments.ts';
import type { Approved } from './code-approval.ts';
import { go, type Nothing, type Verdict } from './gate.ts';
import { type Judged, refuseAction, refuseUnpaid } from './judge-action.ts';

export interface InvokedPorts {
  readonly store: ThreadStore;
}

/** A call or an action of running code. */
export interface CodeInvocation {
  readonly caller: CallerContext;
  /** Idempotency key of the call. */
  readonly key: string;
}

export interface ActionEnding {
  readonly status: ToolStatus;
  readonly error?: string;
}

/**
 * Records a judged call: as begun, before its body runs, or as refused. `spent`: another call has used its approval.
 */
export async function recordInvoked(
  { store }: InvokedPorts,
  { thread, execution }: CallerContext,
  decided: DecidedAction | undefined,
  approval?: string,
): Promise<'kept' | 'spent'> {
  if (!decided) return 'kept';
  const place = execution ? { step: execution.step, executionId: execution.executionId } : {};
  const leaseMs = ACTION_LEASE.forMs;
  return store.actions.record({
    threadId: thread.id,
    told: decided,
    leaseMs,
    ...place,
    ...(approval && { approval }),
  });
}

/** Runs the body of an action that was recorded as begun, and renews its lease until the body ends. */
export async function withActionLease<T>(
  { store }: InvokedPorts,
  action: DecidedAction | undefined,
  body: () => Promise<T>,
): Promise<T> {
  if (!action) return body();
  const renew = () => void store.actions.renew(action.action.id, ACTION_LEASE.forMs).catch(() => undefined);
  const timer = setInterval(renew, ACTION_LEASE.renewEveryMs).unref();
  try {
    return await body();
  } finally {
    clearInterval(timer);
  }
}

/** Stage: pays for the call. Without budgets, which the thread's record shows, nothing is read. */
export async function payInvoked(
  { store }: InvokedPorts,
  { action, key, caller: { thread, execution } }: CodeInvocation & Judged,
): Promise<Verdict<Nothing, AnsweredCall>> {
  if (!thread.budgeted) return go();
  const step = execution?.step;
  const paid = await store.budgets.payInvoked({ threadId: thread.id, key, step });
  return paid.kind === 'paid' ? go() : refuseUnpaid(action, paid.error);
}

/** Stage: records the action as begun. */
export async function beginInvoked(
  input: InvokedPorts,
  { action, approval, caller }: CodeInvocation & Judged & Approved,
): Promise<Verdict<Nothing, AnsweredCall>> {
  const recorded = await recordInvoked(input, caller, action, approval);
  if (recorded === 'kept' || !action) return go();
  const reason = 'Its approval was used up by another call. Call it again to request a new one.';
  return refuseAction(action, { code: 'ApprovalRequired', reason });
}

/** Stage: records how the action ended. */
export async function endInvoked(
  { store }: InvokedPorts,
  { action, result, caller: { thread } }: CodeInvocation & Judged & { readonly result: ActionEnding },
): Promise<Verdict<Nothing, never>> {
  if (!action) return go();
  const { status, error } = result;
  const ending = store.actions.end({ id: action.action.id, threadId: thread.id, status, error });
  // The tool has run; a log that cannot be written must not make it look as if it had not.
  await ending.catch((failure) => void errorMessage(failure));
  return go();
}
