/**
 * Grants: given by the answer to an approval, in its transaction; found by what a call belongs to, with one indexed
 * read; revoked.
 * - A revoked grant counts for no call that begins later. One that has begun goes on.
 */
import type { Kysely, Selectable } from 'kysely';
import { coversCapabilities } from '../../core/governance/grant.ts';
import type { Grantable, WaitAnswer } from '../../core/wait/answer.ts';
import type { Tables } from '../schema/tables.ts';
import { type CommandContext, inThread } from '../transaction/context.ts';
import { deleteRows, findRow, insertRows, updateRow, updateRows } from '../transaction/rows.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import type { WaitRow } from '../wait/wait-row.ts';
import type { Grant, GrantedTool, GrantTable, ListGrants } from './grant-record.ts';

type GrantRow = Selectable<GrantTable>;

interface AskedData {
  readonly capabilities?: readonly string[];
  /** That of a wait by code, which outlives its execution. */
  readonly executionId?: string | null;
  readonly grant?: Grantable;
}

/** Stores the grant that an answer gives, if it reaches further than its call. */
export async function saveGrant(
  { trx, threadId, row: thread, now }: ThreadTransaction,
  { id, name, fingerprint, data, execution_id }: WaitRow,
  answer: WaitAnswer,
): Promise<void> {
  if (fingerprint === null || 'value' in answer || !answer.approved) return;
  const { scope = 'once', covers = 'arguments', until, by } = answer;
  const { capabilities = [], executionId = null, grant } = (JSON.parse(data) ?? {}) as AskedData;
  const execution = execution_id ?? executionId;
  if (scope === 'once' || (scope === 'execution' && execution === null)) return;
  const { organization_id, user_id, agent } = thread;
  const place = { threadId, executionId: execution, organization_id, user_id };
  await insertRows(trx, 'grants', [
    {
      id,
      owner: ownersOf(place)[scope],
      scope,
      asked_in: threadId,
      execution_id: scope === 'execution' ? execution : null,
      organization_id,
      user_id,
      agent,
      name,
      capabilities: JSON.stringify(capabilities),
      digest: covers === 'tool' ? (grant?.digest ?? null) : null,
      fingerprint: covers === 'tool' ? null : fingerprint,
      granted_by: by ?? null,
      granted_at: now,
      expires_at: until ?? null,
      revoked_at: null,
      revoked_by: null,
    },
  ]);
}

interface GrantPlace {
  readonly threadId: string;
  readonly executionId: string | null;
  readonly organization_id: string | null;
  readonly user_id: string | null;
}

/** By scope. */
function ownersOf({ threadId, executionId, organization_id, user_id }: GrantPlace) {
  return {
    execution: `execution:${executionId}`,
    thread: `thread:${threadId}`,
    always: `user:${JSON.stringify([organization_id, user_id])}`,
  } as const;
}

interface SearchedCall {
  readonly threadId: string;
  readonly executionId: string | null;
  readonly fingerprint: string;
  /** Absent: only grants for the same arguments. */
  readonly tool?: GrantedTool;
}

/** The newest grant that covers the call. */
export async function findGrant(
  context: Pick<CommandContext, 'db' | 'clock'>,
  { threadId, executionId, fingerprint, tool }: SearchedCall,
): Promise<GrantRow | undefined> {
  const { db } = context;
  const thread = await findRow(db, 'threads', { id: threadId }, ['user_id', 'organization_id']);
  if (!thread) return undefined;
  const owners = Object.values(ownersOf({ threadId, executionId, ...thread }));
  const rows = await selectValid(context, await context.clock(db))
    .where('owner', 'in', owners)
    .where((where) =>
      where.or([
        where('fingerprint', '=', fingerprint),
        ...(tool
          ? [
              where.and([
                where('fingerprint', 'is', null),
                where('agent', '=', tool.agent),
                where('name', '=', tool.name),
                where('digest', '=', tool.digest),
              ]),
            ]
          : []),
      ]),
    )
    .orderBy('granted_at', 'desc')
    .execute();
  return rows.find(
    (row) =>
      row.fingerprint !== null || coversCapabilities(JSON.parse(row.capabilities), tool?.capabilities ?? []),
  );
}

function selectValid({ db }: { readonly db: Kysely<Tables> }, now: number) {
  return db
    .selectFrom('grants')
    .selectAll()
    .where('revoked_at', 'is', null)
    .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', now)]));
}

/** Newest first. */
export async function listGrants(
  context: CommandContext,
  { threadId, all = false, limit = 100 }: ListGrants,
): Promise<readonly Grant[]> {
  const { db } = context;
  let found = all ? db.selectFrom('grants').selectAll() : selectValid(context, await context.clock(db));
  if (threadId !== undefined) {
    const thread = await findRow(db, 'threads', { id: threadId }, ['user_id', 'organization_id']);
    if (!thread) return [];
    const { always } = ownersOf({ threadId, executionId: null, ...thread });
    found = found.where((where) =>
      where.or([
        where('owner', '=', always),
        where.and([where('asked_in', '=', threadId), where('scope', '!=', 'always')]),
      ]),
    );
  }
  return (await found.orderBy('granted_at', 'desc').limit(limit).execute()).map(toGrant);
}

export async function getGrant({ db }: CommandContext, id: string): Promise<Grant | null> {
  const row = await findRow(db, 'grants', { id });
  return row ? toGrant(row) : null;
}

/** Revokes a grant, and logs that in the thread that asked, if there still is one. Again: changes nothing. Null if there is none. */
export async function revokeGrant(
  context: CommandContext,
  { id, by = null }: { readonly id: string; readonly by?: string | null },
): Promise<Grant | null> {
  const known = await findRow(context.db, 'grants', { id });
  if (!known) return null;
  const now = await context.clock(context.db);
  const revoke = (db: Kysely<Tables>) =>
    updateRow(db, 'grants', { id, revoked_at: null }, { revoked_at: now, revoked_by: by });
  const { asked_in: threadId, name } = known;
  if (threadId === null) await revoke(context.db);
  else
    await inThread(context, threadId, async (thread) => {
      if (await revoke(thread.trx)) thread.emit('grant.revoked', { grantId: id, name, by: by ?? undefined });
    });
  return getGrant(context, id);
}

/** The grants of a deleted thread and its executions go with it; those of its user stay, and name it no more. */
export async function removeGrantsOf(trx: Kysely<Tables>, threadId: string): Promise<void> {
  await deleteRows(trx, 'grants', { asked_in: threadId, scope: ['execution', 'thread'] });
  await updateRows(trx, 'grants', { asked_in: threadId }, { asked_in: null });
}

function toGrant(row: GrantRow): Grant {
  return {
    id: row.id,
    scope: row.scope,
    covers: row.fingerprint === null ? 'tool' : 'arguments',
    threadId: row.asked_in,
    executionId: row.execution_id,
    userId: row.user_id,
    organizationId: row.organization_id,
    agent: row.agent,
    tool: row.name,
    capabilities: JSON.parse(row.capabilities),
    grantedBy: row.granted_by,
    grantedAt: row.granted_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    revokedBy: row.revoked_by,
  };
}
