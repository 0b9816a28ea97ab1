/**
 * Actions that code performs itself, a tool that it invokes or one of its own: their beginning, after the policy has
 * judged them, and their end.
 * C1. An approval for one call of code is used up in the transaction that begins the action.
 * - An action belongs to its process while that renews its lease. If the process is lost, its actions become
 *   uncertain, whether it ran an effect, an endpoint or a hook; those of a tool's call became so with the call.
 */
import { type CommandContext, inThread, refuseTerminated } from '../transaction/context.ts';
import { selectRows, updateRows } from '../transaction/rows.ts';
import { closeAction, openAction } from './action.ts';
import type { EndAction, RecordAction } from './action-record.ts';

/**
 * Records a judged call that code makes itself: denied, or begun, which its process must then renew. `spent`: another
 * call has used up its approval, and nothing is stored. The same command again only renews the lease; an action that
 * was considered lost is begun again. Rejects with `ThreadTerminated`, `ThreadNotFound`.
 */
export async function recordAction(
  context: CommandContext,
  { threadId, told, step, executionId, approval, leaseMs }: RecordAction,
): Promise<'kept' | 'spent'> {
  return inThread(context, threadId, async (thread) => {
    refuseTerminated(thread);
    // An action that has begun before needs no approval. C1: the approval is used up with the beginning.
    if (
      approval !== undefined &&
      !(await thread.has('actions', { id: told.action.id })) &&
      !(await thread.updateRow('waits', { id: approval, heard: 0 }, { heard: 1 }))
    )
      return 'spent';
    const leaseUntil = (await context.clock(thread.trx)) + leaseMs * 1000;
    await openAction(thread, told, { step, executionId, leaseUntil });
    return 'kept';
  });
}

/** Ends an action that `record` has begun. Idempotent. */
export async function endAction(context: CommandContext, { id, threadId, ...end }: EndAction): Promise<void> {
  await inThread(context, threadId, async (thread) => {
    const row = await thread.find('actions', { id });
    // The process was not lost after all, so it may still end the action.
    await closeAction(thread, row?.state === 'uncertain' ? { ...row, state: 'started' } : row, end);
  });
}

const MAX_ROWS = 100;

/**
 * Renews the lease of an action whose process still works on it. No effect on an unknown action, or one that is over.
 */
export async function renewAction(context: CommandContext, id: string, leaseMs: number): Promise<void> {
  const until = (await context.clock(context.db)) + leaseMs * 1000;
  await updateRows(context.db, 'actions', { id, state: 'started' }, { lease_until: until });
}

/** Marks actions that were not renewed in time as uncertain. Returns how many, 100 at most. */
export async function closeLostActions(context: CommandContext): Promise<number> {
  const lost = await context.db
    .selectFrom('actions')
    .select(['id', 'thread_id'])
    .where('state', '=', 'started')
    .where('lease_until', '<', await context.clock(context.db))
    .limit(MAX_ROWS)
    .execute();
  let closed = 0;
  for (const { id, thread_id: threadId } of lost)
    closed += await inThread(context, threadId, async (thread) => {
      const now = await context.clock(thread.trx);
      const row = await selectRows(thread.trx, 'actions', { id, state: 'started' })
        .selectAll()
        .where('lease_until', '<', now)
        .executeTakeFirst();
      if (!row) return 0;
      const error = 'the process that performed it was lost';
      await closeAction(thread, row, { status: 'error', error, uncertain: true });
      return 1;
    });
  return closed;
}
