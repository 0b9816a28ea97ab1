/** The first words of threads, for lists: one read, by the index of their messages. */
import { sql } from 'kysely';
import type { CommandContext } from '../transaction/context.ts';

const MAX_CHARS = 200;

/**
 * The first 200 characters of each thread's first message of its user, by thread id. Threads without one have no
 * entry.
 */
export async function readFirstWords(
  { db }: CommandContext,
  threadIds: readonly string[],
): Promise<Readonly<Record<string, string>>> {
  if (threadIds.length === 0) return {};
  const rows = await db
    .selectFrom('threads')
    .select('threads.id')
    .select((select) =>
      select
        .selectFrom('messages')
        .select(sql<string>`substr(content, 1, ${sql.lit(MAX_CHARS)})`.as('words'))
        .whereRef('messages.thread_id', '=', 'threads.id')
        .where('role', '=', 'user')
        .where('depth', '=', 0)
        .where('silent', '=', 0)
        .where('content', 'is not', null)
        .orderBy('messages.created_at')
        .limit(1)
        .as('words'),
    )
    .where('threads.id', 'in', threadIds)
    .execute();
  return Object.fromEntries(rows.flatMap(({ id, words }) => (words === null ? [] : [[id, words]])));
}
