/**
 * Finds an earlier decision about an action that also applies to this one. The scope of an approval is in its answer:
 * `once` applies to the call that asked, and to no other, or to one call of code; every other scope is a grant
 * (grant/grant.ts). A denial holds for the same fingerprint in its execution.
 */
import type { Kysely } from 'kysely';
import type { Decision } from '../../core/wait/answer.ts';
import { findGrant } from '../grant/grant.ts';
import type { Tables } from '../schema/tables.ts';
import type { CommandContext } from '../transaction/context.ts';
import { selectRows } from '../transaction/rows.ts';
import type { EarlierDecision, FindDecision } from './action-record.ts';

/** Answers that one search reads: those of the asking thread, the newest first. */
const MAX_ROWS = 200;

/**
 * The newest decision that applies: a grant, a denial in this execution, or an unused approval of one call of code. Null
 * if there is none.
 */
export async function findDecision(
  context: CommandContext,
  asked: FindDecision,
): Promise<EarlierDecision | null> {
  const { db } = context;
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
  const grant = await findGrant(context, asked);
  if ((rows.length > 0 || grant) && (await hasBegun(db, asked))) return { approved: true, waitId: '' };
  for (const row of rows) {
    if (grant && grant.granted_at > (row.ended_at ?? 0)) break;
    const answer = JSON.parse(row.answer ?? '{}') as Decision;
    const once = isUnspent(row, answer, asked);
    if (!once && !isDenied(row, answer, asked)) continue;
    const { approved, reason, by } = answer;
    return { approved, waitId: row.id, once, reason, by };
  }
  if (!grant) return null;
  const { id, granted_by } = grant;
  return { approved: true, waitId: id, grantId: id, by: granted_by ?? undefined };
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

/** A denial holds for the rest of its execution. */
function isDenied(row: Answered, { approved }: Decision, asked: FindDecision): boolean {
  const execution = executionOf(row);
  return !approved && execution !== null && execution === asked.executionId;
}
