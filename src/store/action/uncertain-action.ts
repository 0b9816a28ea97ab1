/**
 * Lists actions for people, and stores what people report about the outcome of an uncertain one: once, and as the answer
 * of the wait that asks for it, if one is open.
 */
import type { WaitAnswer } from '../../core/wait/answer.ts';
import { type Reconciliation, readReconciliation, toReconciling } from '../../core/wait/reconciliation.ts';
import { type CommandContext, inThread } from '../transaction/context.ts';
import { findRow } from '../transaction/rows.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import { showAbove } from '../wait/shown-wait.ts';
import type { ReconciledAction, Wait } from '../wait/wait-record.ts';
import { endWait, reconcileKey, toWait } from '../wait/wait-row.ts';
import { type ActionRow, findActionOf } from './action.ts';
import type { ActionDenial, ActionRecord, ListActions } from './action-record.ts';

const DEFAULT_LIMIT = 100;

/** Newest first. */
export async function listActions(
  { db }: CommandContext,
  { id, threadId, state, limit = DEFAULT_LIMIT }: ListActions = {},
): Promise<readonly ActionRecord[]> {
  const rows = await db
    .selectFrom('actions')
    .selectAll()
    .$if(id !== undefined, (query) => query.where('id', '=', id as string))
    .$if(threadId !== undefined, (query) => query.where('thread_id', '=', threadId as string))
    .$if(state !== undefined, (query) => query.where('state', '=', state as ActionRow['state']))
    .orderBy('requested_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.map(toActionRecord);
}

/** Reconciles an action with the answer of a wait, like `reconcileAction`, unless it is no longer uncertain. */
export async function reconcileByAnswer(
  thread: ThreadTransaction,
  { step, idx }: { readonly step: number | null; readonly idx: number | null },
  answer: WaitAnswer,
): Promise<void> {
  const reconciliation = readReconciliation(answer);
  if (!reconciliation || step === null || idx === null) return;
  const row = await findActionOf(thread, { step, idx });
  if (row?.state === 'uncertain') await storeReconciliation(thread, row, reconciliation);
}

/** Stores and logs the reconciliation of an action that is uncertain. */
async function storeReconciliation(
  thread: ThreadTransaction,
  row: ActionRow,
  reconciliation: Reconciliation,
): Promise<ActionRow> {
  const { id, name, step } = row;
  const changes = { state: 'reconciled' as const, outcome: JSON.stringify({ reconciliation }) };
  await thread.update('actions', { id }, changes);
  // Logged even if the action ended with its thread: the log outlives the thread.
  thread.emit('action.reconciled', { actionId: id, name, ...reconciliation }, { step });
  return { ...row, ...changes };
}

type Outcome = Partial<ActionDenial> & { readonly error?: string; readonly reconciliation?: Reconciliation };

function toActionRecord(row: ActionRow): ActionRecord {
  const { code, reason, error, reconciliation } = JSON.parse(row.outcome ?? '{}') as Outcome;
  return {
    id: row.id,
    kind: row.kind,
    name: row.name,
    callId: row.call_id ?? undefined,
    fingerprint: row.fingerprint,
    artifacts: [],
    ...(JSON.parse(row.prepared) as Pick<ActionRecord, 'capabilities' | 'description'>),
    decision: JSON.parse(row.decision),
    threadId: row.thread_id,
    step: row.step,
    executionId: row.execution_id,
    state: row.state,
    denied: code && reason !== undefined ? { code, reason } : undefined,
    error,
    reconciliation,
    requestedAt: row.requested_at,
    startedAt: row.started_at,
    endedAt: row.ended_at,
  };
}

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
