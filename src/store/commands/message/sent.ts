/** Content that clients store before they signal its id. The natural key is (thread, id). */
import type { SentContent } from '../../port/sent.ts';
import type { CommandContext } from '../base/context.ts';

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

export async function readSent(
  { db }: CommandContext,
  threadId: string,
  id: string,
): Promise<SentContent | null> {
  const row = await db
    .selectFrom('sent_contents')
    .select('content')
    .where('thread_id', '=', threadId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row ? (JSON.parse(row.content) as SentContent) : null;
}

export async function dropSent({ db }: CommandContext, threadId: string, id: string): Promise<void> {
  await db.deleteFrom('sent_contents').where('thread_id', '=', threadId).where('id', '=', id).execute();
}
