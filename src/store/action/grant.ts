/**
 * Grants: approvals for all threads of a user within an organisation. They outlive the thread that asked, so its content
 * is not in them: the reason that a person gave stays with the thread.
 */
import type { Kysely, Selectable } from 'kysely';
import type { WaitAnswer } from '../../core/wait/answer.ts';
import type { Tables } from '../schema/tables.ts';
import { findRow, insertRows } from '../transaction/rows.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import type { WaitTable } from '../wait/wait-table.ts';
import type { EarlierDecision, FindDecision } from './action-record.ts';

/** Keeps an answer whose scope is `always`. */
export async function keepGrant(
  { trx, row: { organization_id, user_id }, now }: ThreadTransaction,
  { id, fingerprint }: Pick<Selectable<WaitTable>, 'id' | 'fingerprint'>,
  answer: WaitAnswer,
): Promise<void> {
  if (fingerprint === null || 'value' in answer || !answer.approved || answer.scope !== 'always') return;
  const granted_by = answer.by ?? null;
  await insertRows(trx, 'grants', [
    { wait_id: id, fingerprint, organization_id, user_id, granted_by, granted_at: now },
  ]);
}

/** Returns the newest grant that the asking thread's user has given within its organisation. */
export async function findGrant(
  db: Kysely<Tables>,
  { threadId, fingerprint }: FindDecision,
): Promise<{ readonly at: number; readonly decision: EarlierDecision } | undefined> {
  const thread = await findRow(db, 'threads', { id: threadId }, ['user_id', 'organization_id']);
  if (!thread) return undefined;
  const row = await db
    .selectFrom('grants')
    .select(['wait_id', 'granted_by', 'granted_at'])
    .where('fingerprint', '=', fingerprint)
    .where('user_id', thread.user_id === null ? 'is' : '=', thread.user_id)
    .where('organization_id', thread.organization_id === null ? 'is' : '=', thread.organization_id)
    .orderBy('granted_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (!row) return undefined;
  return {
    at: row.granted_at,
    decision: { approved: true, waitId: row.wait_id, by: row.granted_by ?? undefined },
  };
}
