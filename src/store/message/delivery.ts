/**
 * Whether the answer to a message has reached its client: then the same words again are a new message. Kept in the row of
 * the item, whose content is gone once it is drained.
 */
import type { CommandContext } from '../transaction/context.ts';
import { findRow, updateRows } from '../transaction/rows.ts';
import type { Delivery } from './queue-record.ts';

const DELIVERED = '{"delivered":true}';

/** Records that the answer to a drained item has reached its client. Idempotent. */
export async function markDelivered({ db }: CommandContext, threadId: string, id: string): Promise<void> {
  await updateRows(db, 'items', { thread_id: threadId, id, state: 'drained' }, { payload: DELIVERED });
}

export async function readDelivery({ db }: CommandContext, threadId: string, id: string): Promise<Delivery> {
  const item = await findRow(db, 'items', { thread_id: threadId, id }, ['state', 'payload']);
  if (!item) return 'unknown';
  return item.state === 'drained' && item.payload === DELIVERED ? 'delivered' : 'open';
}
