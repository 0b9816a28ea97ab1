/** Items that a client stores before it signals their ids. */
import type { QueueItem } from '../../../core/thread/item.ts';
import { RuntimeError } from '../../../core/value/error.ts';
import type { CommandContext } from '../base/context.ts';
import { digestOf, toItemRow } from './item-row.ts';

/** The thread may not exist yet: the first message of a new one is staged before the thread is started. */
export async function stageItem(context: CommandContext, threadId: string, item: QueueItem): Promise<void> {
  const staged = await context.db
    .insertInto('items')
    .values({ ...toItemRow(threadId, item, context.now()), state: 'staged', position: null })
    .onConflict((conflict) => conflict.doNothing())
    .returning('items.id')
    .executeTakeFirst();
  if (!staged) await requireRepeat(context, threadId, item);
}

export async function requireRepeat(
  { db }: Pick<CommandContext, 'db'>,
  threadId: string,
  item: QueueItem,
): Promise<void> {
  const known = await db
    .selectFrom('items')
    .select('digest')
    .where('thread_id', '=', threadId)
    .where('id', '=', item.id)
    .executeTakeFirst();
  if (known?.digest == null || known.digest === digestOf(item)) return;
  throw new RuntimeError(
    'ItemConflict',
    `The thread "${threadId}" has something else under the id "${item.id}", which stays as it is: send this under an id of its own.`,
  );
}
