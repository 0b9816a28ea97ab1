/**
 * Stage for calls by running code that need an approval: code cannot wait, so the call is refused and a wait for the
 * approval is opened. Once it is approved, the next call with the same fingerprint passes.
 * - An approval for `once` admits one call. It is used up in the transaction that begins the action
 *   (store/action/code-action.ts, C1).
 * - The wait does not block the thread, and outlives the execution: a later execution may make the call again.
 * - No approval is requested for a call that the budget denies anyway.
 */
import { randomUUID } from 'node:crypto';
import type { StoredError } from '../../core/thread/step.ts';
import { errorMessage, isRuntimeError, isStoreFault } from '../../core/value/error.ts';
import type { DecidedAction } from '../../store/action/action-record.ts';
import type { ThreadStore } from '../../store/store.ts';
import { retryWhileUnavailable } from '../guard/retry-while-unavailable.ts';
import type { ThreadEnv } from '../state/thread-env.ts';
import type { AnsweredCall } from '../tool/check-arguments.ts';
import { type AskedAction, showAction } from './asked-action.ts';
import { go, type Verdict } from './gate.ts';
import {
  type Asked,
  findEarlier,
  type Judged,
  refuseAction,
  refuseUnpaid,
  toDenial,
  toRefusal,
} from './judge-action.ts';

interface AskedByCode extends Asked, Judged {
  readonly tool: { readonly approvalTimeoutMs?: number };
  readonly env: Pick<ThreadEnv, 'redactKnown'>;
}

/** `approval`: id of the wait whose approval this call uses up. */
export interface Approved {
  readonly approval?: string;
}

export async function askForCode(
  { store }: { readonly store: Pick<ThreadStore, 'actions' | 'waits'> },
  { asked, action, tool, env }: AskedByCode,
): Promise<Verdict<Approved & Judged, AnsweredCall>> {
  if (!asked || action?.decision.effect !== 'require_approval') return go({ action });
  const earlier = await findEarlier(store, asked, action, { byCode: true });
  if (earlier?.approved)
    return go({
      action: { ...action, grant: earlier.grantId },
      ...(earlier.once && { approval: earlier.waitId }),
    });
  if (earlier) return refuseAction(action, toRefusal(earlier));
  if (asked.rules.policy.approvals === 'refuse') return refuseAction(action, toDenial(action.decision));
  const opened = await openApproval(store, asked, action, { tool, env });
  // The call could not begin even if it were approved.
  if ('unpaid' in opened) return refuseUnpaid(action, opened.unpaid);
  const reason = `${action.decision.reason}. ${opened.why}`;
  return refuseAction(action, { code: 'ApprovalRequired', reason }, opened.waitId);
}

interface OpenedApproval {
  readonly why: string;
  readonly waitId?: string;
}

/**
 * Opens the wait unless it is open already. Returns a text about it, or the error of the budget that denies the call.
 */
async function openApproval(
  { waits }: Pick<ThreadStore, 'waits'>,
  asked: AskedAction,
  decided: DecidedAction,
  { tool, env }: Pick<AskedByCode, 'tool' | 'env'>,
): Promise<OpenedApproval | { readonly unpaid: StoredError }> {
  const { thread, name, id, signal, executionId } = asked;
  const { fingerprint } = decided.action;
  const { summary, data } = env.redactKnown(showAction(asked, decided));
  const open = { threadId: thread.id, kind: 'approval', name, summary, fingerprint, blocks: false } as const;
  const expiresInMs = tool.approvalTimeoutMs;
  const expires = expiresInMs === undefined ? {} : { expiresInMs };
  try {
    const known = (await waits.list({ threadId: thread.id, limit: 1000 })).find(
      (each) => each.threadId === thread.id && !each.blocks && each.fingerprint === fingerprint,
    );
    const opened = known
      ? { kind: 'open' as const, wait: known }
      : await retryWhileUnavailable(signal, () =>
          waits.open({
            id: randomUUID(),
            key: `approval:${id}:${fingerprint}`,
            ...open,
            // Only in `data`, so that the wait is not closed with this execution.
            data: { ...data, executionId: executionId ?? null },
            ...expires,
          }),
        );
    if (opened.kind === 'exceeded') return { unpaid: opened.error };
    if (opened.kind !== 'open') return { why: 'Its approval cannot be requested again.' };
    const { id: waitId } = opened.wait;
    return { why: `Call it again once the wait ${waitId} is approved.`, waitId };
  } catch (error) {
    if (!isRuntimeError(error) || isStoreFault(error)) throw error;
    return { why: `Its approval could not be requested: ${errorMessage(error)}` };
  }
}
