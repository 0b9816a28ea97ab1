/**
 * A child's row in the registry of its parent, and its changes: when its thread is opened, when the parent's calls no
 * longer wait, and when it ends.
 * C1. The row is written under the lock of the child's thread or of its parent's, after every other lock that the
 *     transaction needs: so parent and child never deadlock.
 */

import type { Kysely, Selectable, Transaction } from 'kysely';
import type { ChildStart } from '../../core/thread/subagent-step.ts';
import type { Tables } from '../schema/tables.ts';
import type { CallKey } from '../transaction/call-row.ts';
import { type CommandContext, inThread, unknownThread } from '../transaction/context.ts';
import { findRow, readRow, updateRows } from '../transaction/rows.ts';
import { ThreadTransaction } from '../transaction/thread-transaction.ts';
import type { ChildRecord } from './child-record.ts';
import type { ChildTable } from './family-table.ts';

export type ChildRow = Selectable<ChildTable>;

export function toChildRecord(row: ChildRow): ChildRecord {
  return {
    parentId: row.parent_id,
    threadId: row.child_id,
    agent: row.agent,
    name: row.name,
    title: row.title,
    description: row.description,
    resumable: row.resumable === 1,
    blocking: row.blocking === 1,
    explicit: row.explicit === 1,
    hears: row.hears,
    status: row.status,
    madeStep: row.made_step,
    createdAt: row.created_at,
    terminatedAt: row.terminated_at,
  };
}

/** Undefined for a thread that has no parent in the registry. */
export async function findChild(db: Kysely<Tables>, childId: string): Promise<ChildRow | undefined> {
  return findRow(db, 'children', { child_id: childId });
}

/** The thread's own entry in the registry of its parent. */
export async function findOwnEntry({ trx, threadId, row }: ThreadTransaction): Promise<ChildRow | undefined> {
  return row.parent_id === null ? undefined : findChild(trx, threadId);
}

export async function updateChild(
  { trx }: ThreadTransaction,
  childId: string,
  changes: Partial<Omit<ChildRow, 'parent_id' | 'child_id'>>,
): Promise<void> {
  await updateRows(trx, 'children', { child_id: childId }, changes);
}

export async function readStart(db: Transaction<Tables>, childId: string): Promise<ChildStart> {
  const row = await readRow(db, 'threads', { id: childId }, ['id', 'agent', 'user_id', 'root_id']);
  return toStart(row);
}

type Startable = Pick<Selectable<Tables['threads']>, 'id' | 'agent' | 'user_id' | 'root_id'>;

export function toStart({ id, agent, user_id: userId, root_id: rootId }: Startable): ChildStart {
  return { threadId: id, agent, userId, rootId };
}

/** Works on a second thread within a transaction on a first one, whose lock is held (family-record.ts, F3). */
export async function inChild<T>(
  context: CommandContext,
  { trx }: ThreadTransaction,
  childId: string,
  work: (child: ThreadTransaction) => Promise<T>,
): Promise<T> {
  const query = trx.selectFrom('threads').selectAll().where('id', '=', childId);
  const row = await (context.rowLocks ? query.forUpdate() : query).executeTakeFirst();
  if (!row) throw unknownThread(context.storeId, childId);
  const child = new ThreadTransaction(trx, row, context.now());
  const result = await work(child);
  await child.flush();
  return result;
}

/** Marks a child as started, once a run has opened its thread. Returns true if the thread is in a registry. */
export async function openChild(thread: ThreadTransaction): Promise<boolean> {
  const child = await findOwnEntry(thread);
  if (!child) return false;
  if (child.started === 0) await updateChild(thread, thread.threadId, { started: 1 });
  return true;
}

/** The call has its result or never will: no report is delivered to it any more. */
export async function releaseCall(context: CommandContext, parentId: string, call: CallKey): Promise<void> {
  await inThread(context, parentId, (parent) => releaseCalls(parent, call));
}

/** Marks the calls of this thread, or only `call`, as no longer waiting for a report. */
export async function releaseCalls(thread: ThreadTransaction, call?: CallKey): Promise<void> {
  if (thread.row.child_count === 0) return;
  let waiting = thread.trx
    .updateTable('children')
    .set({ wait_step: null, wait_idx: null })
    .where('parent_id', '=', thread.threadId)
    .where('wait_step', 'is not', null);
  if (call) waiting = waiting.where('wait_step', '=', call.step).where('wait_idx', '=', call.index);
  await waiting.execute();
}
