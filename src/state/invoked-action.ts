/**
 * The stages around what code does itself, a tool that it invokes or an action of its own: it is paid for, kept as begun before anything of it is
 * done, and its end is kept behind it.
 */
import { ACTION_LEASE } from '../core/governance/action-lease.ts';
import type { ToolStatus } from '../core/message/message.ts';
import { errorMessage } from '../core/value/error.ts';
import type { ToldAction } from '../store/port/action.ts';
import type { ThreadStore } from '../store/port/thread-store.ts';
import type { CallerContext } from './caller-context.ts';
import type { AnsweredCall } from './check-arguments.ts';
import type { Approved } from './code-approval.ts';
import { go, type Nothing, type Verdict } from './gate.ts';
import { type Judged, refuseAction, refuseUnpaid } from './judge-action.ts';

export interface InvokedPorts {
  readonly store: ThreadStore;
}

/** What running code does. */
export interface ByCode {
  readonly caller: CallerContext;
  /** Its idempotency key. */
  readonly key: string;
}

export interface HowItEnded {
  readonly status: ToolStatus;
  readonly error?: string;
}

/** What is judged is kept before the body begins, and how it ended behind it; of what is refused there is nothing but that. */
export async function recordInvoked(
  { store }: InvokedPorts,
  { thread, execution }: CallerContext,
  told: ToldAction | undefined,
  approval?: string,
): Promise<'kept' | 'spent'> {
  if (!told) return 'kept';
  const place = execution ? { step: execution.step, executionId: execution.executionId } : {};
  const leaseMs = ACTION_LEASE.forMs;
  return store.actions.record({
    threadId: thread.id,
    told,
    leaseMs,
    ...place,
    ...(approval && { approval }),
  });
}

/** The body of what was kept as begun: it is this process's for as long as that is at it. */
export async function whileHeld<T>(
  { store }: InvokedPorts,
  action: ToldAction | undefined,
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

/** Stage: undefined budgets are asked for nothing: the thread's record says whether there are any. */
export async function payInvoked(
  { store }: InvokedPorts,
  { action, key, caller: { thread, execution } }: ByCode & Judged,
): Promise<Verdict<Nothing, AnsweredCall>> {
  if (!thread.budgeted) return go();
  const step = execution?.step;
  const paid = await store.budgets.payInvoked({ threadId: thread.id, key, step });
  return paid.kind === 'paid' ? go() : refuseUnpaid(action, paid.error);
}

/** Stage: it is kept as begun. */
export async function beginInvoked(
  input: InvokedPorts,
  { action, approval, caller }: ByCode & Judged & Approved,
): Promise<Verdict<Nothing, AnsweredCall>> {
  const recorded = await recordInvoked(input, caller, action, approval);
  if (recorded === 'kept' || !action) return go();
  const reason = 'Its approval was used up by another call. Call it again to ask for the next.';
  return refuseAction(action, { code: 'ApprovalRequired', reason });
}

/** Stage: how it ended is kept. */
export async function endInvoked(
  { store }: InvokedPorts,
  { action, result, caller: { thread } }: ByCode & Judged & { readonly result: HowItEnded },
): Promise<Verdict<Nothing, never>> {
  if (!action) return go();
  const { status, error } = result;
  const told = store.actions.end({ id: action.action.id, threadId: thread.id, status, error });
  // The tool has run; a log that cannot be written must not make it look as if it had not.
  await told.catch((failure) => void errorMessage(failure));
  return go();
}
