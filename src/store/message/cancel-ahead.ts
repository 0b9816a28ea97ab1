/**
 * Cancels executions before they begin: the request is stored with the claim of the id, wherever the item is by then.
 * When it is drained, the item counts as one whose context is canceled: it becomes history, without a step.
 */
import type { Cancellation } from '../../core/governance/cancellation.ts';
import { updateRows } from '../transaction/rows.ts';
import { givenContext, readCancellation, type WithContext } from '../transaction/run-context.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';

/** Returns the request that counts, which is the first; null if no execution is going to begin under this id. */
export async function cancelBeforeBegin(
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
