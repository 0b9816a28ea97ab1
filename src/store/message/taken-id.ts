/** Ids of a thread's messages: no item can be stored under one of them. */

import type { Transaction } from 'kysely';
import type { Tables } from '../schema/tables.ts';
import { readInBatches } from '../transaction/batches.ts';
import { selectRows } from '../transaction/rows.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';

/** Rejects items whose id a message of the thread has already, with an event for each; returns the others. */
export async function refuseTaken<Item extends { readonly id: string }>(
  thread: ThreadTransaction,
  items: readonly Item[],
): Promise<readonly Item[]> {
  const ids = items.map(({ id }) => id);
  const taken = await findMessages(thread.trx, thread.threadId, ids);
  for (const id of ids)
    if (taken.has(id))
      thread.emit('item.rejected', { id, code: 'InvalidMessage', reason: 'another message has this id' });
  return items.filter(({ id }) => !taken.has(id));
}

/** Returns those of the ids that messages have. */
export async function findMessages(
  trx: Transaction<Tables>,
  threadId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const found = await readInBatches(ids, (batch) =>
    selectRows(trx, 'messages', { thread_id: threadId, id: batch }).select('id').execute(),
  );
  return new Set(found.map(({ id }) => id));
}
