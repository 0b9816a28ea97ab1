/**
 * Messages from parents to their children, and unrequested messages from children to their parents (runtime §8). The
 * message's id is the key: if an item has this id, the message has been sent.
 */
import type { MessageItem } from '../../core/thread/item.ts';
import { roleTo } from '../../core/thread/session.ts';
import { budgetBehind, type CausedItem, causedBy } from '../budget/account.ts';
import { openFamily } from '../budget/family.ts';
import { stopClocks } from '../budget/time.ts';
import { type CommandContext, inThread } from '../transaction/context.ts';
import { findRow, updateRows } from '../transaction/rows.ts';
import { isAtWork, refuseTeam } from '../transaction/team-limit.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import { findAskingSide } from './asking-side.ts';
import { type ChildRow, findChild, inChild, readStart, toChildRecord, updateChild } from './child.ts';
import { enqueueFrom } from './child-files.ts';
import type { SendToChild, SentToChild } from './child-record.ts';

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
      const { agent } = known;
      parent.emit(
        'subagent.messaged',
        { childId, agent, messageId: message.id },
        { step: command.call.step },
      );
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
    parent.emit('subagent.notified', { childId, messageId: message.id });
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
    parent.emit('subagent.status', { childId, status });
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
