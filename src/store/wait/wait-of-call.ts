/** The waits of a call that begins: whether one is still open, and the outcomes of the others. */

import type { KeyedWait } from '../tool/tool-record.ts';
import type { CallRow } from '../transaction/call-row.ts';
import type { CommandContext } from '../transaction/context.ts';
import { updateRows } from '../transaction/rows.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import { expireIfPast } from './wait.ts';
import type { Wait } from './wait-record.ts';
import { showWaiting, toWait, type WaitRow } from './wait-row.ts';

/** Undefined if none is open: then the call may begin. A wait past its time is ended here. */
export async function findOpenWait(
  context: CommandContext,
  thread: ThreadTransaction,
  call: CallRow,
): Promise<Wait | undefined> {
  const now = await context.clock(thread.trx);
  for (const row of await readWaits(thread, call)) {
    const noticed = await expireIfPast(thread, row, now);
    if (noticed.state !== 'open') continue;
    // If an earlier run was killed, the step was taken over, and the thread set to running.
    if (noticed.blocks === 1) showWaiting(thread);
    return toWait(noticed, now);
  }
  return undefined;
}

/** Marks the waits of a call that begins as heard, and returns them. */
export async function markWaitsHeard(
  context: CommandContext,
  thread: ThreadTransaction,
  call: CallRow,
): Promise<readonly KeyedWait[]> {
  const rows = await readWaits(thread, call);
  const unheard = rows.filter(({ heard }) => heard === 0).map(({ id }) => id);
  if (unheard.length > 0) await updateRows(thread.trx, 'waits', { id: unheard }, { heard: 1 });
  const now = await context.clock(thread.trx);
  return rows.map((row) => ({ key: row.key, wait: toWait(row, now) }));
}

async function readWaits(thread: ThreadTransaction, { step, idx }: CallRow): Promise<WaitRow[]> {
  return thread.select('waits', { step, idx }).selectAll().orderBy('opened_at').execute();
}
