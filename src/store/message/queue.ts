/**
 * The durable part of the queue (runtime §9): items staged by clients before they signal their ids, spilled by the
 * workflow, queued by tools; `drain.ts` turns them into messages. `(thread, item id)` is unique: a repeated item counts
 * once. Once the item is drained, its content is gone, and the row says whether the answer has reached its client: then the same words again are a new message.
 *
 * Also what a client stores before it starts or signals a workflow, which gets only the id: the content of a start, the
 * reason of an end. It stays until its thread is deleted, so that a repeated activity finds it again. The natural key is
 * (thread, id).
 */

import { sql } from 'kysely';
import type { QueueItem, Refusal } from '../../core/thread/item.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { measureJson } from '../../core/value/json-measure.ts';
import { LIMITS } from '../../core/value/limit.ts';
import { type CausedItem, causedBy, causedByEffect } from '../budget/account.ts';
import { digestOf, toItemRow } from '../schema/item-row.ts';
import type { QueuedTool } from '../tool/tool-record.ts';
import { type CommandContext, inRun, inThread, refuseTerminated } from '../transaction/context.ts';
import {
  countRows,
  deleteRows,
  findRow,
  insertNew,
  readInBatches,
  selectRows,
  updateRows,
} from '../transaction/rows.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import { claimItem } from './execution-claim.ts';
import type { Delivery, QueueOptions, SpillItems } from './message-record.ts';

export function countPending(thread: ThreadTransaction): Promise<number> {
  return thread.count('items', { state: 'queued' });
}

/** Number of queued items, whoever queued them. */
export function countQueued({ db }: CommandContext, threadId: string): Promise<number> {
  return countRows(db, 'items', { thread_id: threadId, state: 'queued' });
}

/** Puts an item in line, and logs it if it is new there. */
export async function enqueue(
  thread: ThreadTransaction,
  item: QueueItem,
  options?: QueueOptions,
): Promise<void> {
  if (await putInLine(thread, item, options)) emitQueued(thread, item);
}

export function emitQueued(thread: ThreadTransaction, item: QueueItem): void {
  thread.emit('item.queued', { id: item.id, kind: item.kind === 'tool' ? 'tool' : 'message' });
}

/** Queues tools together with what is stored now; they may name any tool. `own`: by code of the thread's executions. */
export async function enqueueTools(
  thread: ThreadTransaction,
  tools: readonly QueuedTool[] = [],
  { own = true, effect }: QueueOptions = {},
): Promise<void> {
  for (const tool of tools) await enqueue(thread, { kind: 'tool', ...tool, origin: 'code' }, { own, effect });
}

/** Moves a staged item into line; one that is queued or drained already stays as it is. True if it is new in line. */
export async function putInLine(
  thread: ThreadTransaction,
  item: QueueItem,
  { own = false, effect }: QueueOptions = {},
): Promise<boolean> {
  if (item.executionId !== undefined && item.kind !== 'stored' && !(await holdsClaim(thread, item)))
    return false;
  const position = thread.row.last_position + 1;
  const isNew =
    item.kind === 'stored'
      ? await lineUpStaged(thread, item, position)
      : await lineUp(
          thread,
          { ...(await findCause(thread, { own, effect })), ...item },
          { position, own: own ? 1 : 0 },
        );
  if (isNew) thread.set({ last_position: position });
  return isNew;
}

/** False if another item has claimed the execution: this one is stored as drained, so that it cannot come again. */
async function holdsClaim(thread: ThreadTransaction, item: QueueItem): Promise<boolean> {
  const claimed = await claimItem(thread, item);
  if (claimed.kind === 'claimed' && claimed.itemId === item.id) return true;
  if (!(await storeRefused(thread, item)) || claimed.kind === 'claimed') return false;
  thread.emit('item.rejected', {
    id: item.id,
    code: 'ExecutionConflict',
    reason: `the execution ${JSON.stringify(item.executionId)} was begun by another item, in thread ${claimed.threadId}`,
  });
  return false;
}

/** The budgets that pay for an item: the open execution's, or those of the one that scheduled the effect. */
async function findCause(thread: ThreadTransaction, { own, effect }: QueueOptions): Promise<CausedItem> {
  if (own) return causedBy(thread);
  return effect === undefined ? {} : causedByEffect(thread, effect);
}

/** A single statement: a client may stage the same id concurrently, and staging takes no lock on the thread. */
async function lineUp(
  thread: ThreadTransaction,
  item: QueueItem,
  place: { readonly position: number; readonly own: 0 | 1 },
): Promise<boolean> {
  const written = await thread.trx
    .insertInto('items')
    .values({ ...toItemRow(thread.threadId, item, thread.now), state: 'queued', ...place })
    .onConflict((conflict) =>
      conflict
        .columns(['thread_id', 'id'])
        .doUpdateSet({ state: 'queued', position: place.position })
        .where('items.state', '=', 'staged'),
    )
    .returning('items.id')
    .executeTakeFirst();
  return written !== undefined;
}

/** For an item that only names its content, which must have been staged. */
async function lineUpStaged(thread: ThreadTransaction, item: QueueItem, position: number): Promise<boolean> {
  if (await takeStaged(thread, item.id, position)) return true;
  // The row exists: it was known before, or has been staged since the first attempt.
  if (!(await storeRefused(thread, item))) return takeStaged(thread, item.id, position);
  thread.emit('item.rejected', {
    id: item.id,
    code: 'InvalidMessage',
    reason: 'no content is stored under this id',
  });
  return false;
}

/** Stores the id alone, so that it cannot come again; false if it is there. */
function storeRefused(thread: ThreadTransaction, item: QueueItem): Promise<boolean> {
  const row = toItemRow(thread.threadId, item, thread.now);
  return insertNew(thread.trx, 'items', { ...row, payload: '{}', state: 'drained' });
}

async function takeStaged(thread: ThreadTransaction, id: string, position: number): Promise<boolean> {
  return thread.updateRow('items', { id, state: 'staged' }, { state: 'queued', position });
}

/**
 * Moves queued content from the workflow's memory into the store, in order. Returns how many items are queued now, 0
 * on a terminated thread. An item that could not be read back, because it is nested too deep, is logged as
 * `item.rejected`; the others are stored.
 */
export async function spillItems(context: CommandContext, command: SpillItems): Promise<{ waiting: number }> {
  const stored = await inRun(context, command, async (thread) => {
    emitRejections(thread, command.rejections ?? []);
    for (const item of command.items) {
      if (isTooDeep(item))
        emitRejections(thread, [
          {
            id: item.id,
            code: 'InvalidMessage',
            reason: `it is nested deeper than ${LIMITS.jsonDepth} levels and cannot be stored`,
          },
        ]);
      else await enqueue(thread, item);
    }
    return countPending(thread);
  });
  return { waiting: typeof stored === 'number' ? stored : 0 };
}

/** The item itself adds one level to what its sender wrote. */
function isTooDeep(item: QueueItem): boolean {
  return measureJson(item, { maxDepth: LIMITS.jsonDepth + 1 }).depth > LIMITS.jsonDepth + 1;
}

/**
 * Queues an item for code: the thread's own within an execution, or any other. Rejects with `ThreadTerminated`,
 * `ThreadNotFound`.
 */
export async function queueItem(
  context: CommandContext,
  threadId: string,
  item: QueueItem,
  options?: QueueOptions,
): Promise<void> {
  await inThread(context, threadId, async (thread) => {
    refuseTerminated(thread);
    await enqueue(thread, item, options);
  });
}

/** Takes a message out of line. Its row stays, without content, so that the same item cannot come again. */
export async function dropQueued(thread: ThreadTransaction, id: string): Promise<void> {
  await thread.update('items', { id }, { state: 'drained', payload: '{}' });
  thread.emit('message.deleted', { messageId: id });
}

export function emitRejections(thread: ThreadTransaction, rejections: readonly Refusal[]): void {
  for (const { id, code, reason } of rejections)
    thread.emit('item.rejected', { id: id || undefined, code, reason });
}

/** Number of these items that have become messages, or were refused: then the log has the reason. */
export async function countDrained(
  { db }: CommandContext,
  threadId: string,
  itemIds: readonly string[],
): Promise<number> {
  if (itemIds.length === 0) return 0;
  const drained = await readInBatches(itemIds, (batch) =>
    selectRows(db, 'items', { thread_id: threadId, state: 'drained' })
      .select('id')
      .where('id', 'in', batch)
      .execute(),
  );
  // Rejections are rare, and only the log has them: it is read only if an id is missing.
  if (drained.length === itemIds.length) return drained.length;
  const rejected = await db
    .selectFrom('events')
    .select('data')
    .where('thread_id', '=', threadId)
    .where(sql<boolean>`type = 'item.rejected'`) // as in their index (schema/migration-0001.ts)
    .execute();
  const ids = new Set(drained.map((row) => row.id));
  for (const { data } of rejected) {
    const { id } = JSON.parse(data) as { id?: string };
    if (id !== undefined && itemIds.includes(id)) ids.add(id);
  }
  return ids.size;
}

/**
 * Stores an item for its later signal, even before the thread exists: the first message of a new thread is staged
 * before the thread is started. It is not queued by this. Rejects as `requireRepeat`.
 */
export async function stageItem(context: CommandContext, threadId: string, item: QueueItem): Promise<void> {
  const staged = await insertNew(context.db, 'items', {
    ...toItemRow(threadId, item, context.now()),
    state: 'staged',
  });
  if (!staged) await requireRepeat(context, threadId, item);
}

/**
 * Rejects with `ItemConflict` if the thread has an item with this id that says or calls something else, also once
 * that has become a message and whatever became of its text.
 */
export async function requireRepeat(
  { db }: Pick<CommandContext, 'db'>,
  threadId: string,
  item: QueueItem,
): Promise<void> {
  const known = await findRow(db, 'items', { thread_id: threadId, id: item.id }, ['digest']);
  if (known?.digest == null || known.digest === digestOf(item)) return;
  throw new RuntimeError(
    'ItemConflict',
    `The thread "${threadId}" has something else under the id "${item.id}", which stays as it is: send this under an id of its own.`,
  );
}

const DELIVERED = '{"delivered":true}';

/** Records that the answer to a drained item has reached its client. Idempotent. */
export async function markDelivered({ db }: CommandContext, threadId: string, id: string): Promise<void> {
  await updateRows(db, 'items', { thread_id: threadId, id, state: 'drained' }, { payload: DELIVERED });
}

export async function readDelivery({ db }: CommandContext, threadId: string, id: string): Promise<Delivery> {
  const item = await findRow(db, 'items', { thread_id: threadId, id }, ['state', 'payload']);
  if (!item) return 'unknown';
  return item.state === 'drained' && item.payload === DELIVERED ? 'delivered' : 'open';
}

type SentContent = Readonly<Record<string, unknown>>;

/** Stores content under a new id, even before the thread exists. */
export async function saveSent(
  { db, now }: CommandContext,
  threadId: string,
  id: string,
  content: SentContent,
): Promise<void> {
  await db
    .insertInto('sent_contents')
    .values({ thread_id: threadId, id, content: JSON.stringify(content), created_at: now() })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Null if nothing is stored under this id. */
export async function readSent(
  { db }: CommandContext,
  threadId: string,
  id: string,
): Promise<SentContent | null> {
  const row = await findRow(db, 'sent_contents', { thread_id: threadId, id }, ['content']);
  return row ? JSON.parse(row.content) : null;
}

/** Removes content whose id has reached no workflow. */
export async function dropSent({ db }: CommandContext, threadId: string, id: string): Promise<void> {
  await deleteRows(db, 'sent_contents', { thread_id: threadId, id });
}
