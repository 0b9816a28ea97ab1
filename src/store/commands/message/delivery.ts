/**
 * Whether the answer to a message has reached its client: then the same words again are a new message. Kept in the row of
 * the item, whose content is gone once it is drained.
 */
import type { Delivery } from '../../port/queue.ts';
import type { CommandContext } from '../base/context.ts';

const DELIVERED = '{"delivered":true}';

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
