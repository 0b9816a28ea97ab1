/**
 * Stores what a person reports about the outcome of an uncertain action: once, and as the answer of the wait that asks
 * for it, if one is open.
 */

import { type Reconciliation, toReconciling } from '../../core/wait/reconciliation.ts';
import type { ActionRow } from '../action/action.ts';
import type { ReconciledAction } from '../action/action-record.ts';
import { storeReconciliation, toActionRecord } from '../action/uncertain-action.ts';
import { type CommandContext, inThread } from '../transaction/context.ts';
import { findRow } from '../transaction/rows.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import { showAbove } from './shown-wait.ts';
import type { Wait } from './wait-record.ts';
import { endWait, reconcileKey, toWait } from './wait-row.ts';

/** Settles an uncertain action, once: a second call returns `certain`. */
export async function reconcileAction(
  context: CommandContext,
  id: string,
  reconciliation: Reconciliation,
): Promise<ReconciledAction> {
  const found = await findRow(context.db, 'actions', { id });
  if (!found) return { kind: 'unknown' };
  const reconciled = await inThread<ReconciledAction>(context, found.thread_id, async (thread) => {
    const row = (await thread.find('actions', { id })) ?? found;
    if (row.state !== 'uncertain') return { kind: 'certain', action: toActionRecord(row) };
    const action = toActionRecord(await storeReconciliation(thread, row, reconciliation));
    const wait = await answerOpen(context, thread, row, reconciliation);
    return { kind: 'reconciled', action, wait };
  });
  // Its wait has blocked its ancestors too.
  if (reconciled.kind === 'reconciled' && reconciled.wait) await showAbove(context, found.thread_id);
  return reconciled;
}

/** Answers the wait that asks for the outcome; undefined if none is open. */
async function answerOpen(
  context: CommandContext,
  thread: ThreadTransaction,
  { step, idx }: ActionRow,
  reconciliation: Reconciliation,
): Promise<Wait | undefined> {
  if (step === null || idx === null) return undefined;
  const row = await thread.find('waits', { key: reconcileKey({ step, idx }) });
  if (row?.state !== 'open') return undefined;
  const ended = await endWait(thread, row, { state: 'answered', answer: toReconciling(reconciliation) });
  return toWait(ended, await context.clock(thread.trx));
}
