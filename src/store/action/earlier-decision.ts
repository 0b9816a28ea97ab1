/**
 * Finds an earlier decision about an action that also applies to this one. The scope of an approval is in its answer:
 * `once` applies to the call that asked, and to no other, or to one call of code; every other scope applies to the same
 * fingerprint.
 *
 * Grants: approvals for all threads of a user within an organisation. They outlive the thread that asked, so its content
 * is not in them: the reason that a person gave stays with the thread.
 */
import type { Kysely, Selectable } from 'kysely';
import type { Decision, WaitAnswer } from '../../core/wait/answer.ts';
import type { Tables } from '../schema/tables.ts';
import type { CommandContext } from '../transaction/context.ts';
import { findRow, insertRows, selectRows } from '../transaction/rows.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import type { WaitTable } from '../wait/wait-record.ts';
import type { EarlierDecision, FindDecision } from './action-record.ts';

/** Answers that one search reads: those of the asking thread, the newest first. */
const MAX_ROWS = 200;

/**
 * The newest answered approval with this fingerprint that applies to this execution: approved for the execution, for
 * the thread, or always (by the scope of the answer; `always` is for threads of the same user and organisation, also
 * once the thread that asked is deleted), or denied in this execution. Null if there is none.
 */
export async function findDecision(
  { db }: CommandContext,
  asked: FindDecision,
): Promise<EarlierDecision | null> {
  const rows = await selectRows(db, 'waits', {
    thread_id: asked.threadId,
    fingerprint: asked.fingerprint,
    kind: 'approval',
    state: 'answered',
  })
    .select(['id', 'execution_id', 'answer', 'ended_at', 'step', 'heard', 'data'])
    .orderBy('ended_at', 'desc')
    .limit(MAX_ROWS)
    .execute();
  const grant = await findGrant(db, asked);
  if ((rows.length > 0 || grant) && (await hasBegun(db, asked))) return { approved: true, waitId: '' };
  for (const row of rows) {
    if (grant && grant.at > (row.ended_at ?? 0)) break;
    const answer = JSON.parse(row.answer ?? '{}') as Decision;
    const once = isUnspent(row, answer, asked);
    if (!once && !isInScope(row, answer, asked)) continue;
    const { approved, reason, by } = answer;
    return {
      approved,
      waitId: row.id,
      once,
      reason,
      by,
    };
  }
  return grant ? grant.decision : null;
}

/** An action that has begun needs no further approval: another attempt of its code performs it again. */
async function hasBegun(db: Kysely<Tables>, { byCode, fingerprint }: FindDecision): Promise<boolean> {
  if (byCode === undefined) return false;
  const row = await selectRows(db, 'actions', { id: byCode, fingerprint })
    .select('id')
    .where('started_at', 'is not', null)
    .executeTakeFirst();
  return row !== undefined;
}

/** True for an approval of a single call that the thread's code has asked for and not used yet. */
function isUnspent(
  row: Answered,
  { approved, scope = 'once' }: Decision,
  asked: FindDecision,
): true | undefined {
  if (asked.byCode === undefined || row.step !== null || row.heard === 1) return undefined;
  return approved && scope === 'once' ? true : undefined;
}

/** A wait that code has opened outlives its execution, and has the execution's id in its data. */
function executionOf({ execution_id: id, step, data }: Answered): string | null {
  if (id !== null || step !== null) return id;
  return (JSON.parse(data) as { executionId?: string | null } | null)?.executionId ?? null;
}

interface Answered {
  readonly step: number | null;
  readonly heard: number;
  readonly data: string;
  readonly execution_id: string | null;
}

function isInScope(row: Answered, { approved, scope = 'once' }: Decision, asked: FindDecision): boolean {
  const execution = executionOf(row);
  const now = execution !== null && execution === asked.executionId;
  // A denial holds for the rest of its execution.
  if (!approved || scope === 'execution') return now;
  return scope !== 'once';
}

/** Keeps an answer whose scope is `always`. */
export async function saveGrant(
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
async function findGrant(
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
