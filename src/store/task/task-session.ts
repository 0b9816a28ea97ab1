/** Sessions of backends, by owner and id: a repeated command has the same result. */
import type { Selectable } from 'kysely';
import type { TaskSession } from '../../core/task/session.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { type CommandContext, unknownThread } from '../transaction/context.ts';
import { findRow } from '../transaction/rows.ts';
import type { PutSession, TaskSessionTable } from './task-record.ts';

/** A session of the task's owner; null if there is none. */
export async function getSession(
  context: CommandContext,
  threadId: string,
  id: string,
): Promise<TaskSession | null> {
  const owner = await ownerOf(context, threadId);
  const row = await findRow(context.db, 'task_sessions', { owner, id });
  return row ? toSession(row) : null;
}

const MAX_ID_CHARS = 200;

/** Rejects with `InvalidValue`. */
export async function putSession(
  context: CommandContext,
  { threadId, id, backend, status, resumeToken }: PutSession,
): Promise<TaskSession> {
  if (id === '' || id.length > MAX_ID_CHARS)
    throw new RuntimeError('InvalidValue', `The id of a session must have 1 to ${MAX_ID_CHARS} characters.`);
  const owner = await ownerOf(context, threadId);
  const now = context.now();
  const changed = { backend, status, resume_token: resumeToken, updated_at: now };
  const row = await context.db
    .insertInto('task_sessions')
    .values({ owner, id, created_at: now, ...changed })
    .onConflict((conflict) => conflict.columns(['owner', 'id']).doUpdateSet(changed))
    .returningAll()
    .executeTakeFirstOrThrow();
  return toSession(row);
}

async function ownerOf({ db, storeId }: CommandContext, threadId: string): Promise<string> {
  const thread = await findRow(db, 'threads', { id: threadId }, ['organization_id', 'user_id']);
  if (!thread) throw unknownThread(storeId, threadId);
  if (thread.organization_id !== null) return `organization:${thread.organization_id}`;
  return thread.user_id === null ? '' : `user:${thread.user_id}`;
}

function toSession(row: Selectable<TaskSessionTable>): TaskSession {
  return {
    id: row.id,
    backend: row.backend,
    status: row.status,
    resumeToken: row.resume_token,
    createdAt: Math.round(row.created_at / 1000),
    updatedAt: Math.round(row.updated_at / 1000),
  };
}
