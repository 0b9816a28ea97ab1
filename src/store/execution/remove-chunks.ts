/**
 * Removes streamed text of executions that ended some time ago; the messages stay. A repeated command removes the next
 * rows.
 * - Each time a bounded number of rows of a bounded number of executions is removed, so no thread waits for long.
 * - An execution is done when fewer rows are found than may be removed. The oldest go first, leaving the end of a
 *   text.
 */
import type { Transaction } from 'kysely';
import type { Tables } from '../schema/tables.ts';
import type { CommandContext } from '../transaction/context.ts';
import { selectRows, updateRows } from '../transaction/rows.ts';

const MAX_EXECUTIONS = 50;
const MAX_ROWS = 200;

/**
 * Removes `model.chunk` rows of executions that ended at least this long ago, a bounded number per call: repeat until
 * it returns 0. Returns how many it has removed.
 */
export async function removeChunks(context: CommandContext, olderThanMs: number): Promise<number> {
  const before = (await context.clock(context.db)) - olderThanMs * 1000;
  const ended = await context.db
    .selectFrom('executions')
    .select(['thread_id', 'id', 'first_seq'])
    .where('streams', 'is not', null)
    .where('ended_at', '<=', before)
    .orderBy('ended_at')
    .limit(MAX_EXECUTIONS)
    .execute();
  let removed = 0;
  for (const each of ended)
    removed += await context.db.transaction().execute((trx) => removeExecutionChunks(trx, each));
  return removed;
}

interface Ended {
  readonly thread_id: string;
  readonly id: string;
  readonly first_seq: number | null;
}

async function removeExecutionChunks(
  trx: Transaction<Tables>,
  { thread_id: threadId, id, first_seq }: Ended,
): Promise<number> {
  const first = first_seq ?? 0;
  const next = await trx
    .selectFrom('executions')
    .select('first_seq')
    .where('thread_id', '=', threadId)
    .where('first_seq', '>', first)
    .orderBy('first_seq')
    .limit(1)
    .executeTakeFirst();
  const streamed = selectRows(trx, 'events', { thread_id: threadId, type: 'model.chunk' })
    .select('seq')
    .where('seq', '>', first)
    .where('seq', '<', next?.first_seq ?? Number.MAX_SAFE_INTEGER)
    .orderBy('seq')
    .limit(MAX_ROWS);
  const removed = await trx
    .deleteFrom('events')
    .where('thread_id', '=', threadId)
    .where('seq', 'in', streamed)
    .returning('seq')
    .execute();
  if (removed.length < MAX_ROWS)
    await updateRows(trx, 'executions', { thread_id: threadId, id }, { streams: null });
  return removed.length;
}
