/**
 * Finds an earlier decision about an action that also applies to this one. The scope of an approval is in its answer:
 * `once` applies to the call that asked, and to no other, or to one call of code; every other scope applies to the same
 * fingerprint.
 */
import type { Kysely } from 'kysely';
import type { Decision } from '../../../core/wait/answer.ts';
import type { EarlierDecision, FindDecision } from '../../port/action.ts';
import type { Tables } from '../../schema/tables.ts';
import type { CommandContext } from '../base/context.ts';

const MAX_ROWS = 200;

export async function findDecision(
  { db }: CommandContext,
  asked: FindDecision,
): Promise<EarlierDecision | null> {
  const rows = await db
    .selectFrom('waits')
    .innerJoin('threads', 'threads.id', 'waits.thread_id')
    .select(['waits.id', 'waits.thread_id', 'waits.execution_id', 'waits.answer', 'threads.user_id'])
    .select('threads.organization_id')
    .select(['waits.step', 'waits.heard', 'waits.data'])
    .where('waits.fingerprint', '=', asked.fingerprint)
    .where('waits.kind', '=', 'approval')
    .where('waits.state', '=', 'answered')
    .orderBy('waits.ended_at', 'desc')
    .limit(MAX_ROWS)
    .execute();
  if (rows.length > 0 && (await hasBegun(db, asked))) return { approved: true, waitId: '' };
  const owner = rows.length > 0 ? await ownerOf(db, asked) : null;
  for (const row of rows) {
    const answer = JSON.parse(row.answer ?? '{}') as Decision;
    const once = isUnspent(row, answer, asked);
    if (!once && !isInScope(row, answer, { ...asked, owner })) continue;
    const { approved, reason, by } = answer;
    return {
      approved,
      waitId: row.id,
      ...(once ? { once } : {}),
      ...(reason === undefined ? {} : { reason }),
      ...(by === undefined ? {} : { by }),
    };
  }
  return null;
}

/** An action that has begun needs no further approval: another attempt of its code performs it again. */
async function hasBegun(db: Kysely<Tables>, { byCode, fingerprint }: FindDecision): Promise<boolean> {
  if (byCode === undefined) return false;
  const row = await db
    .selectFrom('actions')
    .select('id')
    .where('id', '=', byCode)
    .where('fingerprint', '=', fingerprint)
    .where('started_at', 'is not', null)
    .executeTakeFirst();
  return row !== undefined;
}

/** True for an approval of a single call that this thread's code has asked for and not used yet. */
function isUnspent(
  row: Answered,
  { approved, scope = 'once' }: Decision,
  asked: FindDecision,
): true | undefined {
  if (asked.byCode === undefined || row.step !== null || row.heard === 1) return undefined;
  return approved && scope === 'once' && row.thread_id === asked.threadId ? true : undefined;
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
  readonly thread_id: string;
  readonly execution_id: string | null;
  readonly user_id: string | null;
  readonly organization_id: string | null;
}

/** The organisation of the asking thread. */
async function ownerOf(db: Kysely<Tables>, { threadId }: FindDecision): Promise<string | null> {
  const thread = await db
    .selectFrom('threads')
    .select('organization_id')
    .where('id', '=', threadId)
    .executeTakeFirst();
  return thread?.organization_id ?? null;
}

type DecisionQuery = FindDecision & { readonly owner: string | null };

function isInScope(row: Answered, { approved, scope = 'once' }: Decision, asked: DecisionQuery): boolean {
  const here = row.thread_id === asked.threadId;
  const execution = executionOf(row);
  const now = here && execution !== null && execution === asked.executionId;
  // A denial holds for the rest of its execution.
  if (!approved) return now;
  switch (scope) {
    case 'once':
      return false;
    case 'execution':
      return now;
    case 'thread':
      return here;
    case 'always':
      return row.user_id === asked.userId && row.organization_id === asked.owner;
  }
}
