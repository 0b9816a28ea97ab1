/**
 * Executions that are cancelled before they begin: the request is kept with the claim of the id, wherever the item is by then. As it is drained
 * the item is one whose context is canceled: history, and no step.
 */
import type { Cancellation } from '../../../core/governance/cancellation.ts';
import { givenContext, readCancellation, type WithContext } from '../base/run-context.ts';
import type { ThreadTransaction } from '../base/thread-transaction.ts';

/** The request that counts; null where nothing is to begin under this id. */
export async function cancelAhead(
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

/** The request that came before the execution begins. */
export async function readAhead(
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

export function withAhead<Item extends WithContext>(item: Item, ahead: Cancellation | null): Item {
  if (ahead === null) return item;
  const { reason } = ahead;
  return {
    ...item,
    context: { ...givenContext(item), canceled: true, ...(reason === null ? {} : { cancelReason: reason }) },
  };
}
