/**
 * Lists threads that show other waits than their workflows have read (shown-wait.ts, S3) and still wait for a child.
 */

import type { CommandContext } from '../transaction/context.ts';
import type { UnseenWait } from './wait-record.ts';

const MAX_ROWS = 100;

/** Threads whose `readShown` has been due for at least this long, the longest first. At most 100. */
export async function listUnseenWaits(
  context: CommandContext,
  olderThanMs: number,
): Promise<readonly UnseenWait[]> {
  const before = (await context.clock(context.db)) - olderThanMs * 1000;
  const rows = await context.db
    .selectFrom('threads')
    .innerJoin('children', 'children.parent_id', 'threads.id')
    .select(['threads.id', 'children.child_id'])
    .where('threads.unseen_since', '<=', before)
    .where('threads.terminated_at', 'is', null)
    .where('children.wait_step', 'is not', null)
    .orderBy('threads.unseen_since')
    .limit(MAX_ROWS)
    .execute();
  return rows.map(({ id: threadId, child_id: childId }) => ({ threadId, childId }));
}
