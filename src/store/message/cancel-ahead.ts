/**
 * Cancels executions before they begin: the request is stored with the claim of the id, wherever the item is by then.
 * When it is drained, the item counts as one whose context is canceled: it becomes history, without a step.
 */
import type { Cancellation } from '../../core/governance/cancellation.ts';
import { givenContext, readCancellation, type WithContext } from '../transaction/run-context.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';

/** Returns the request that counts, which is the first; null if no execution is going to begin under this id. */
export async function cancelBeforeBegin(
  { trx, threadId }: ThreadTransaction,
  executionId: string,
  request: string,
): Promise<Cancellation | null> {
  const claim = await trx
    .selectFrom('execution_claims')
    .select(['owner', 'cancel_request', 'item_id'])
    .where('thread_id', '=', threadId)
    .where('execution_id', '=', executionId)
    .executeTakeFirst();
  if (!claim) return null;
  const over = await trx
    .selectFrom('items')
    .select('id')
    .where('thread_id', '=', threadId)
    .where('id', '=', claim.item_id)
    .where('state', '=', 'drained')
    .executeTakeFirst();
  if (over) return null;
  if (claim.cancel_request === null)
    await trx
      .updateTable('execution_claims')
      .set({ cancel_request: request })
      .where('owner', '=', claim.owner)
      .where('execution_id', '=', executionId)
      .execute();
  return readCancellation(claim.cancel_request ?? request);
}

/** The request to cancel that came before the execution began; null if there is none. */
export async function readEarlyCancel(
  { trx, threadId }: ThreadTransaction,
  executionId: string | undefined,
): Promise<Cancellation | null> {
  if (executionId === undefined) return null;
  const claim = await trx
    .selectFrom('execution_claims')
    .select('cancel_request')
    .where('thread_id', '=', threadId)
    .where('execution_id', '=', executionId)
    .executeTakeFirst();
  return readCancellation(claim?.cancel_request ?? null);
}

export function withCancellation<Item extends WithContext>(item: Item, ahead: Cancellation | null): Item {
  if (ahead === null) return item;
  const { reason } = ahead;
  return {
    ...item,
    context: { ...givenContext(item), canceled: true, ...(reason === null ? {} : { cancelReason: reason }) },
  };
}
