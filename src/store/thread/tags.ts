/** Tags of a thread. The whole list is replaced, so a repeated command changes nothing. */
import type { Transaction } from 'kysely';
import { toThreadRecord } from '../schema/rows.ts';
import type { Tables } from '../schema/tables.ts';
import { type CommandContext, inThread, unknownThread } from '../transaction/context.ts';
import type { ThreadRecord } from './thread-record.ts';

/** Replaces all tags of the thread. Rejects with `ThreadNotFound`. */
export async function setTags(
  context: CommandContext,
  threadId: string,
  tags: readonly string[],
): Promise<ThreadRecord> {
  return inThread(context, threadId, async (thread) => {
    const { trx, row } = thread;
    if (row.deleted_at !== null) throw unknownThread(context.storeId, threadId);
    const before = row.tags === null ? [] : (JSON.parse(row.tags) as string[]);
    if (JSON.stringify(before) === JSON.stringify(tags)) return toThreadRecord(row);
    await thread.delete('thread_tags');
    await insertTags(trx, { threadId, createdAt: row.created_at, tags });
    thread.set({ tags: tags.length > 0 ? JSON.stringify(tags) : null });
    return toThreadRecord(thread.written);
  });
}

interface NewTags {
  readonly threadId: string;
  readonly createdAt: number;
  readonly tags: readonly string[];
}

export async function insertTags(
  trx: Transaction<Tables>,
  { threadId, createdAt, tags }: NewTags,
): Promise<void> {
  if (tags.length === 0) return;
  await trx
    .insertInto('thread_tags')
    .values(tags.map((tag) => ({ thread_id: threadId, tag, created_at: createdAt })))
    .execute();
}
