/**
 * Actions that code does itself: their beginning, once it is judged, and their end.
 * C1. An approval for one call of code is spent in the transaction that begins the action.
 * C2. It is its process's for as long as that renews it (lost-action.ts).
 */
import type { EndAction, RecordAction } from '../../port/action.ts';
import { type CommandContext, inThread, refuseTerminated } from '../base/context.ts';
import type { ThreadTransaction } from '../base/thread-transaction.ts';
import { closeAction, findAction, openAction } from './action.ts';

export async function recordAction(
  context: CommandContext,
  { threadId, told, step, executionId, approval, leaseMs }: RecordAction,
): Promise<'kept' | 'spent'> {
  return inThread(context, threadId, async (thread) => {
    refuseTerminated(thread);
    // Begun before. C1: spent with the beginning.
    if (
      approval !== undefined &&
      !(await findAction(thread, told.action.id)) &&
      !(await spend(thread, approval))
    )
      return 'spent';
    const leaseUntil = (await context.clock(thread.trx)) + leaseMs * 1000;
    await openAction(thread, told, { step, executionId, leaseUntil });
    return 'kept';
  });
}

/** C1: whether it was there to be spent. */
async function spend({ trx, threadId }: ThreadTransaction, wait: string): Promise<boolean> {
  const spent = await trx
    .updateTable('waits')
    .set({ heard: 1 })
    .where('id', '=', wait)
    .where('thread_id', '=', threadId)
    .where('heard', '=', 0)
    .returning('id')
    .executeTakeFirst();
  return spent !== undefined;
}

export async function endAction(context: CommandContext, { id, threadId, ...end }: EndAction): Promise<void> {
  await inThread(context, threadId, async (thread) => {
    const row = await findAction(thread, id);
    // C2: its process was there after all.
    await closeAction(thread, row?.state === 'uncertain' ? { ...row, state: 'started' } : row, end);
  });
}
