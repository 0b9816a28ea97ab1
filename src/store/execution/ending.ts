/**
 * Whether the hooks at the end of an execution have run. Stored separately from the end: if a thread is terminated in
 * the store alone, the next worker that handles it runs the hooks. Marking twice changes nothing.
 */
import type { CommandContext } from '../transaction/context.ts';
import { updateRows } from '../transaction/rows.ts';
import type { EndingExecution } from './execution-record.ts';
import { getExecution } from './read-execution.ts';

/** The newest execution, if its end hooks have not run and it is open or was ended by termination; else null. */
export async function findEnding(context: CommandContext, threadId: string): Promise<EndingExecution | null> {
  const row = await context.db
    .selectFrom('executions')
    .select(['id', 'ended_at', 'ended_as', 'end_told'])
    .where('thread_id', '=', threadId)
    .orderBy('started_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (!row || row.end_told !== null) return null;
  const terminated = row.ended_as === 'terminated';
  if (row.ended_at !== null && !terminated) return null;
  const record = await getExecution(context, threadId, row.id);
  return record && { ...record, terminated };
}

/** Records that its end hooks have run, or that there are none. */
export async function markEndTold(context: CommandContext, threadId: string, id: string): Promise<void> {
  await updateRows(context.db, 'executions', { thread_id: threadId, id }, { end_told: 1 });
}
