/**
 * A child's row in the registry of its parent, and its changes: when its thread is opened, when the parent's calls no
 * longer wait, and when it ends.
 * - The row is written under the lock of the child's thread or of its parent's, after every other lock that the
 *   transaction needs: so parent and child never deadlock.
 *
 * The side of the parent to which a child's messages go (runtime §4, §8.2): the side that has asked the child last, or
 * has created it. A parent with one AI side has only side A.
 *
 * Messages from parents to their children, and unrequested messages from children to their parents (runtime §8). The
 * message's id is the key: if an item has this id, the message has been sent.
 */
import type { Kysely, Selectable, Transaction } from 'kysely';
import type { Side } from '../../core/author/thread-execution.ts';
import type { MessageItem } from '../../core/thread/item.ts';
import { roleTo } from '../../core/thread/session.ts';
import type { ChildStart } from '../../core/thread/step.ts';
import { budgetBehind, type CausedItem, causedBy, openFamily } from '../budget/account.ts';
import { stopClocks } from '../budget/lines.ts';
import type { Tables } from '../schema/tables.ts';
import { type CommandContext, inThread, unknownThread } from '../transaction/context.ts';
import type { CallKey } from '../transaction/from-run.ts';
import { findRow, readRow, updateRows } from '../transaction/rows.ts';
import { isAtWork, refuseTeam } from '../transaction/team-limit.ts';
import { ThreadTransaction } from '../transaction/thread-transaction.ts';
import { enqueueFrom } from './child-files.ts';
import type { ChildRecord, ChildTable, SendToChild, SentToChild } from './family-record.ts';

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
async function inChild<T>(
  context: CommandContext,
  { trx, change }: ThreadTransaction,
  childId: string,
  work: (child: ThreadTransaction) => Promise<T>,
): Promise<T> {
  const query = trx.selectFrom('threads').selectAll().where('id', '=', childId);
  const row = await (context.rowLocks ? query.forUpdate() : query).executeTakeFirst();
  if (!row) throw unknownThread(context.storeId, childId);
  const child = new ThreadTransaction(trx, row, context.now(), change);
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

export async function findAskingSide(parent: ThreadTransaction, child: ChildRow): Promise<Side> {
  const step = child.told_step ?? child.made_step ?? (await findRequestStep(parent, child));
  if (step === undefined) return 'a';
  const asked = await parent.find('steps', { step }, ['side']);
  return asked?.side ?? 'a';
}

/** The step of the call for which variables were missing: the child was created when they came. */
async function findRequestStep({ trx }: ThreadTransaction, child: ChildRow): Promise<number | undefined> {
  const request = await findRow(trx, 'variable_requests', { child_id: child.child_id }, ['step']);
  return request?.step;
}

/** Queues a message to a child, with its files, once per message id; status `running`, event `subagent.messaged`. */
export async function sendToChild(context: CommandContext, command: SendToChild): Promise<SentToChild> {
  const { parentId, childId, message } = command;
  return inThread(context, parentId, async (parent) => {
    if (parent.row.terminated_at !== null) return { kind: 'terminated' };
    const known = await findChild(parent.trx, childId);
    if (known?.parent_id !== parentId) return { kind: 'unknown' };
    // The child may end at any moment, but not while its lock is held.
    let refused: string | undefined;
    const lives = await inChild(context, parent, childId, async (child) => {
      if (await hasItem(child, message.id)) return true;
      if (child.row.terminated_at !== null) return false;
      refused = isAtWork(await findChild(parent.trx, childId), child)
        ? undefined
        : await refuseTeam(parent, { speaks: true });
      if (refused !== undefined) return true;
      await openFamily(context, parent);
      await enqueueFrom(child, parentId, { ...message, ...causedBy(parent) });
      await expectAnswer(child, command);
      const { agent, name } = known;
      const told = { childId, agent, name: name ?? undefined, messageId: message.id };
      parent.emit('subagent.messaged', told, { step: command.call.step });
      return true;
    });
    if (!lives) return { kind: 'unknown' };
    if (refused !== undefined) return { kind: 'refused', reason: refused };
    // The child works in the parent's place.
    if (command.waits) await stopClocks(context, parent);
    const row = (await findChild(parent.trx, childId)) ?? known;
    return { kind: 'told', child: toChildRecord(row), start: await readStart(parent.trx, childId) };
  });
}

/** Reports that the child made before do not answer this message. */
async function expectAnswer(
  child: ThreadTransaction,
  { childId, message, call, waits }: SendToChild,
): Promise<void> {
  await updateRows(child.trx, 'child_reports', { child_id: childId, state: 'due' }, { early: 1 });
  await updateChild(child, childId, {
    status: 'running',
    owes: 1,
    told_step: call.step,
    told_idx: call.index,
    told_id: message.id,
    superseded: null,
    wait_step: waits ? call.step : null,
    wait_idx: waits ? call.index : null,
  });
}

/**
 * Queues a message that the child sends to its parent by itself (`notifyParent`), once per message id, in the role
 * that addresses the side that asked the child; event `subagent.notified`. False if there is no parent, or it has
 * ended.
 */
export async function sendToParent(
  context: CommandContext,
  childId: string,
  message: MessageItem,
): Promise<boolean> {
  return inParent(context, childId, async (parent, child) => {
    if (await hasItem(parent, message.id)) return;
    const metadata = { ...message.metadata, subagent_id: childId };
    const role = roleTo(await findAskingSide(parent, child));
    await enqueueFrom(parent, childId, {
      ...message,
      role,
      metadata,
      ...(await causeBehind(parent, childId)),
    });
    parent.emit('subagent.notified', { childId, name: child.name ?? undefined, messageId: message.id });
  });
}

/**
 * Sets the status that the parent's registry shows, which is final once the child is terminated; event
 * `subagent.status`. False if there is no parent, or it has ended.
 */
export async function setChildStatus(
  context: CommandContext,
  childId: string,
  status: string,
): Promise<boolean> {
  return inParent(context, childId, async (parent, child) => {
    if (child.terminated_at !== null || child.status === status) return;
    await updateChild(parent, childId, { status });
    parent.emit('subagent.status', { childId, name: child.name ?? undefined, status });
  });
}

/** Returns false if there is no parent, or the parent has ended. */
async function inParent(
  context: CommandContext,
  childId: string,
  work: (parent: ThreadTransaction, child: ChildRow) => Promise<void>,
): Promise<boolean> {
  const known = await findChild(context.db, childId);
  if (!known) return false;
  return inThread(context, known.parent_id, async (parent) => {
    const child = await findChild(parent.trx, childId);
    if (!child || parent.row.terminated_at !== null) return false;
    await work(parent, child);
    return true;
  });
}

/** The budgets that the child's execution has inherited: what the parent does about the message spends them too. */
async function causeBehind({ trx }: ThreadTransaction, childId: string): Promise<CausedItem> {
  const child = await findRow(trx, 'threads', { id: childId }, ['id', 'budget']);
  const accounts = child ? budgetBehind(child) : [];
  return accounts.length === 0 ? {} : { budget: accounts };
}

async function hasItem(thread: ThreadTransaction, id: string): Promise<boolean> {
  return thread.has('items', { id });
}
