/**
 * Actions that code performs itself, a tool that it invokes or one of its own. Their process renews the lease while it
 * works on them. If it is lost, they become uncertain, whether it ran an effect, an endpoint or a hook; those of a
 * tool's call became so with the call.
 */
import { type CommandContext, inThread } from '../transaction/context.ts';
import { selectRows, updateRows } from '../transaction/rows.ts';
import { closeAction } from './action.ts';

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
