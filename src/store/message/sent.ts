/**
 * What a client stores before it starts or signals a workflow, which gets only the id: the content of a start, the
 * reason of an end. It stays until its thread is deleted, so that a repeated activity finds it again. The natural key is
 * (thread, id).
 */
import type { CommandContext } from '../transaction/context.ts';
import { deleteRows, findRow } from '../transaction/rows.ts';

type SentContent = Readonly<Record<string, unknown>>;

/** Stores content under a new id, even before the thread exists. */
export async function keepSent(
  { db, now }: CommandContext,
  threadId: string,
  id: string,
  content: SentContent,
): Promise<void> {
  await db
    .insertInto('sent_contents')
    .values({ thread_id: threadId, id, content: JSON.stringify(content), created_at: now() })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Null if nothing is stored under this id. */
export async function readSent(
  { db }: CommandContext,
  threadId: string,
  id: string,
): Promise<SentContent | null> {
  const row = await findRow(db, 'sent_contents', { thread_id: threadId, id }, ['content']);
  return row ? JSON.parse(row.content) : null;
}

/** Removes content whose id has reached no workflow. */
export async function dropSent({ db }: CommandContext, threadId: string, id: string): Promise<void> {
  await deleteRows(db, 'sent_contents', { thread_id: threadId, id });
}
