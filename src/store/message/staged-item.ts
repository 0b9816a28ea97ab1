/** Items that a client stores before it signals their ids. */
import type { QueueItem } from '../../core/thread/item.ts';
import { RuntimeError } from '../../core/value/error.ts';
import type { CommandContext } from '../transaction/context.ts';
import { findRow, insertNew } from '../transaction/rows.ts';
import { digestOf, toItemRow } from './item-row.ts';

/**
 * Stores an item for its later signal, even before the thread exists: the first message of a new thread is staged
 * before the thread is started. It is not queued by this. Rejects as `requireRepeat`.
 */
export async function stageItem(context: CommandContext, threadId: string, item: QueueItem): Promise<void> {
  const staged = await insertNew(context.db, 'items', {
    ...toItemRow(threadId, item, context.now()),
    state: 'staged',
  });
  if (!staged) await requireRepeat(context, threadId, item);
}

/**
 * Rejects with `ItemConflict` if the thread has an item with this id that says or calls something else, also once
 * that has become a message and whatever became of its text.
 */
export async function requireRepeat(
  { db }: Pick<CommandContext, 'db'>,
  threadId: string,
  item: QueueItem,
): Promise<void> {
  const known = await findRow(db, 'items', { thread_id: threadId, id: item.id }, ['digest']);
  if (known?.digest == null || known.digest === digestOf(item)) return;
  throw new RuntimeError(
    'ItemConflict',
    `The thread "${threadId}" has something else under the id "${item.id}", which stays as it is: send this under an id of its own.`,
  );
}
