/** Threads of the family whose steps wait for reserved amounts of others; they are notified of each settlement. */

import type { CommandContext } from '../transaction/context.ts';
import { selectFamily } from '../transaction/rows.ts';
import { budgetOf } from './account.ts';

/** Other threads of its family whose steps wait for what others have reserved of a budget. */
export async function listWaiting({ db }: CommandContext, threadId: string): Promise<readonly string[]> {
  const relatives = await selectFamily(db, threadId)
    .select(['id', 'budget'])
    .where('id', '<>', threadId)
    .where('budget', 'is not', null)
    .where('terminated_at', 'is', null)
    .execute();
  return relatives.filter((relative) => budgetOf(relative)?.waits).map(({ id }) => id);
}
