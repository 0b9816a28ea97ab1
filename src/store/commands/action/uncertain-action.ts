/** Actions as people look at them, and what they say became of an uncertain one. */
import type { Kysely } from 'kysely';
import type {
  ActionDenial,
  ActionRecord,
  ListActions,
  ReconciledAction,
  Reconciliation,
} from '../../port/action.ts';
import type { Tables } from '../../schema/tables.ts';
import { type CommandContext, inThread } from '../base/context.ts';
import type { ActionRow } from './action.ts';

const MOST = 100;

export async function listActions(
  { db }: CommandContext,
  { threadId, state, limit = MOST }: ListActions = {},
): Promise<readonly ActionRecord[]> {
  const rows = await db
    .selectFrom('actions')
    .selectAll()
    .$if(threadId !== undefined, (query) => query.where('thread_id', '=', threadId as string))
    .$if(state !== undefined, (query) => query.where('state', '=', state as ActionRow['state']))
    .orderBy('requested_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.map(toRecord);
}

export async function reconcileAction(
  context: CommandContext,
  id: string,
  reconciliation: Reconciliation,
): Promise<ReconciledAction> {
  const found = await readRow(context.db, id);
  if (!found) return { kind: 'unknown' };
  return inThread(context, found.thread_id, async (thread) => {
    const row = (await readRow(thread.trx, id)) ?? found;
    if (row.state !== 'uncertain') return { kind: 'certain', action: toRecord(row) };
    const changes = { state: 'reconciled' as const, outcome: JSON.stringify({ reconciliation }) };
    await thread.trx.updateTable('actions').set(changes).where('id', '=', id).execute();
    // What ended with its thread is told in the log all the same: the log outlives the thread.
    thread.emit('action.reconciled', { actionId: id, name: row.name, ...reconciliation }, { step: row.step });
    return { kind: 'reconciled', action: toRecord({ ...row, ...changes }) };
  });
}

function readRow(db: Kysely<Tables>, id: string): Promise<ActionRow | undefined> {
  return db.selectFrom('actions').selectAll().where('id', '=', id).executeTakeFirst();
}

type Outcome = Partial<ActionDenial> & { readonly error?: string; readonly reconciliation?: Reconciliation };

function toRecord(row: ActionRow): ActionRecord {
  const { code, reason, error, reconciliation } = JSON.parse(row.outcome ?? '{}') as Outcome;
  return {
    id: row.id,
    kind: row.kind,
    name: row.name,
    ...(row.call_id === null ? {} : { callId: row.call_id }),
    fingerprint: row.fingerprint,
    artifacts: [],
    ...(JSON.parse(row.prepared) as Pick<ActionRecord, 'capabilities' | 'description'>),
    decision: JSON.parse(row.decision) as ActionRecord['decision'],
    threadId: row.thread_id,
    step: row.step,
    executionId: row.execution_id,
    state: row.state,
    ...(code && reason !== undefined ? { denied: { code, reason } } : {}),
    ...(error === undefined ? {} : { error }),
    ...(reconciliation ? { reconciliation } : {}),
    requestedAt: row.requested_at,
    startedAt: row.started_at,
    endedAt: row.ended_at,
  };
}
