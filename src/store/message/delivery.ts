/**
 * Whether the answer to a message has reached its client: then the same words again are a new message. Kept in the row of
 * the item, whose content is gone once it is drained.
 */

import type { CommandContext } from '../transaction/context.ts';
import type { Delivery } from './queue-record.ts';

const DELIVERED = '{"delivered":true}';

/** Records that the answer to a drained item has reached its client. Idempotent. */
export async function markDelivered({ db }: CommandContext, threadId: string, id: string): Promise<void> {
  await db
    .updateTable('items')
    .set({ payload: DELIVERED })
    .where('thread_id', '=', threadId)
    .where('id', '=', id)
    .where('state', '=', 'drained')
    .execute();
}

export async function readDelivery({ db }: CommandContext, threadId: string, id: string): Promise<Delivery> {
  const item = await db
    .selectFrom('items')
    .select(['state', 'payload'])
    .where('thread_id', '=', threadId)
    .where('id', '=', id)
    .executeTakeFirst();
  if (!item) return 'unknown';
  return item.state === 'drained' && item.payload === DELIVERED ? 'delivered' : 'open';
}
