/**
 * Cancels an execution (docs/governance.md): the request is stored with it, and the first one counts. From then on none
 * of its steps begins (begin-step.ts), and however it ends, it ends as cancelled (thread/status.ts).
 *
 * Cancels executions before they begin: the request is stored with the claim of the id, wherever the item is by then.
 * When it is drained, the item counts as one whose context is canceled: it becomes history, without a step.
 */
import type { Cancellation, CancelVerdict } from '../../core/governance/cancellation.ts';
import { type CommandContext, inThread } from '../transaction/context.ts';
import { updateRows } from '../transaction/rows.ts';
import {
  givenContext,
  readCancellation,
  toCancellation,
  type WithContext,
} from '../transaction/run-context.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import type { CancelExecution } from './execution-record.ts';

/**
 * Stores the request with the named execution, which may not have begun yet, or with the running one; the first
 * request counts. From then on none of its steps begins, and it ends as cancelled. Rejects with `ThreadNotFound`.
 */
export async function cancelExecution(
  context: CommandContext,
  { threadId, executionId, reason, by }: CancelExecution,
): Promise<CancelVerdict> {
  return inThread(context, threadId, async (thread) => {
    const found = await findExecution(thread, executionId);
    const request = toCancellation({ reason, by }, thread.now);
    if (!found) {
      const ahead = executionId === undefined ? null : await cancelBeforeBegin(thread, executionId, request);
      if (executionId === undefined || ahead === null) return { kind: 'not_found' };
      return { kind: 'canceling', executionId, cancellation: ahead, ahead: true };
    }
    const { id, ended_at: endedAt, stop_reason: stopReason } = found;
    if (endedAt !== null) return { kind: 'not_cancelable', executionId: id, stopReason };
    const known = readCancellation(found.cancel_request);
    if (known) return { kind: 'canceling', executionId: id, cancellation: known };
    await thread.update('executions', { id }, { cancel_request: request });
    return { kind: 'canceling', executionId: id, cancellation: JSON.parse(request) };
  });
}

/** The named execution; without a name the open one, or the last one. */
async function findExecution(thread: ThreadTransaction, executionId: string | undefined) {
  const all = thread.select('executions').select(['id', 'ended_at', 'stop_reason', 'cancel_request']);
  if (executionId !== undefined) return all.where('id', '=', executionId).executeTakeFirst();
  const open = await all.where('ended_at', 'is', null).limit(1).executeTakeFirst();
  return open ?? all.orderBy('started_at', 'desc').limit(1).executeTakeFirst();
}

/** Returns the request that counts, which is the first; null if no execution is going to begin under this id. */
async function cancelBeforeBegin(
  thread: ThreadTransaction,
  executionId: string,
  request: string,
): Promise<Cancellation | null> {
  const claim = await thread.find('execution_claims', { execution_id: executionId }, [
    'owner',
    'cancel_request',
    'item_id',
  ]);
  if (!claim) return null;
  if (await thread.has('items', { id: claim.item_id, state: 'drained' })) return null;
  if (claim.cancel_request === null)
    await updateRows(
      thread.trx,
      'execution_claims',
      { owner: claim.owner, execution_id: executionId },
      { cancel_request: request },
    );
  return readCancellation(claim.cancel_request ?? request);
}

/** The request to cancel that came before the execution began; null if there is none. */
export async function readEarlyCancel(
  thread: ThreadTransaction,
  executionId: string | undefined,
): Promise<Cancellation | null> {
  if (executionId === undefined) return null;
  const claim = await thread.find('execution_claims', { execution_id: executionId }, ['cancel_request']);
  return readCancellation(claim?.cancel_request ?? null);
}

export function withCancellation<Item extends WithContext>(item: Item, ahead: Cancellation | null): Item {
  if (ahead === null) return item;
  const { reason } = ahead;
  return {
    ...item,
    context: { ...givenContext(item), canceled: true, cancelReason: reason ?? undefined },
  };
}
