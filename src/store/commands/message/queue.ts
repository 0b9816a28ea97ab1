/**
 * The queue's durable half (runtime §9): items staged by clients, spilled by the workflow, queued by tools; `drain.ts` makes
 * messages of them. `(thread, item id)` is unique: whatever comes twice counts once.
 */
import { sql } from 'kysely';
import type { QueueItem, Refusal } from '../../../core/thread/item.ts';
import { measureJson } from '../../../core/value/json-measure.ts';
import { LIMITS } from '../../../core/value/limit.ts';
import type { QueueOptions, SpillItems } from '../../port/queue.ts';
import type { QueuedTool } from '../../port/tool.ts';
import { readInBatches } from '../base/batches.ts';
import { type CommandContext, inRun, inThread, refuseTerminated } from '../base/context.ts';
import type { ThreadTransaction } from '../base/thread-transaction.ts';
import { type CausedItem, causedBy, causedByEffect } from '../budget/account.ts';
import { claimItem } from './execution-claim.ts';
import { toItemRow } from './item-row.ts';

export function countPending({ trx, threadId }: ThreadTransaction): Promise<number> {
  return countItems(trx, threadId);
}

export async function countQueued({ db }: CommandContext, threadId: string): Promise<number> {
  return countItems(db, threadId);
}

async function countItems(db: CommandContext['db'], threadId: string): Promise<number> {
  const { count } = await db
    .selectFrom('items')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('thread_id', '=', threadId)
    .where('state', '=', 'queued')
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Puts an item in line and says so in the log. */
export async function enqueue(
  thread: ThreadTransaction,
  item: QueueItem,
  options?: QueueOptions,
): Promise<void> {
  if (await putInLine(thread, item, options)) tellQueued(thread, item);
}

export function tellQueued(thread: ThreadTransaction, item: QueueItem): void {
  thread.emit('item.queued', { id: item.id, kind: item.kind === 'tool' ? 'tool' : 'message' });
}

/** Tools that code has queued with what is stored now: they may name any tool. `own`: code of the thread's executions. */
export async function enqueueTools(
  thread: ThreadTransaction,
  tools: readonly QueuedTool[] = [],
  { own = true, effect }: QueueOptions = {},
): Promise<void> {
  for (const tool of tools) await enqueue(thread, { kind: 'tool', ...tool, origin: 'code' }, { own, effect });
}

/** A staged item takes its place in line; one that is queued or drained already keeps it. True when it is new there. */
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

/** False for an item that is refused, or is another's twin: it is not to come again. */
async function holdsClaim(thread: ThreadTransaction, item: QueueItem): Promise<boolean> {
  const claimed = await claimItem(thread, item);
  if (claimed.kind === 'claimed' && claimed.itemId === item.id) return true;
  const refused = await thread.trx
    .insertInto('items')
    .values({
      ...toItemRow(thread.threadId, item, thread.now),
      payload: '{}',
      state: 'drained',
      position: null,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('items.id')
    .executeTakeFirst();
  if (!refused || claimed.kind === 'claimed') return false;
  thread.emit('item.rejected', {
    id: item.id,
    code: 'ExecutionConflict',
    reason: `the execution ${JSON.stringify(item.executionId)} was begun by another item, in thread ${claimed.threadId}`,
  });
  return false;
}

/** Who pays for it: the open execution, or the one that scheduled the effect. */
async function findCause(thread: ThreadTransaction, { own, effect }: QueueOptions): Promise<CausedItem> {
  if (own) return causedBy(thread);
  return effect === undefined ? {} : causedByEffect(thread, effect);
}

/** One statement: a client may stage the same id at this very moment, and staging takes no lock on the thread. */
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
  const refused = await thread.trx
    .insertInto('items')
    .values({ ...toItemRow(thread.threadId, item, thread.now), state: 'drained', position: null })
    .onConflict((conflict) => conflict.doNothing())
    .returning('items.id')
    .executeTakeFirst();
  // There is such a row: known before, or staged since we looked.
  if (!refused) return takeStaged(thread, item.id, position);
  thread.emit('item.rejected', {
    id: item.id,
    code: 'InvalidMessage',
    reason: 'no content is stored under this id',
  });
  return false;
}

async function takeStaged(thread: ThreadTransaction, id: string, position: number): Promise<boolean> {
  const taken = await thread.trx
    .updateTable('items')
    .set({ state: 'queued', position })
    .where('thread_id', '=', thread.threadId)
    .where('id', '=', id)
    .where('state', '=', 'staged')
    .returning('items.id')
    .executeTakeFirst();
  return taken !== undefined;
}

/** An item that could not be read back is refused, and the others are taken. */
export async function spillItems(context: CommandContext, command: SpillItems): Promise<{ waiting: number }> {
  const stored = await inRun(context, command, async (thread) => {
    emitRejections(thread, command.rejections ?? []);
    for (const item of command.items) {
      if (isTooDeep(item)) emitRejections(thread, [tooDeep(item)]);
      else await enqueue(thread, item);
    }
    return countPending(thread);
  });
  return { waiting: typeof stored === 'number' ? stored : 0 };
}

/** The item itself is one level more than what its sender wrote. */
function isTooDeep(item: QueueItem): boolean {
  return measureJson(item, { maxDepth: LIMITS.jsonDepth + 1 }).depth > LIMITS.jsonDepth + 1;
}

function tooDeep({ id }: QueueItem): Refusal {
  const reason = `it is nested deeper than ${LIMITS.jsonDepth} levels and cannot be stored`;
  return { id, code: 'InvalidMessage', reason };
}

/** The thread may not be there yet: the first message of a new one is staged before it is started. */
export async function stageItem(context: CommandContext, threadId: string, item: QueueItem): Promise<void> {
  await context.db
    .insertInto('items')
    .values({ ...toItemRow(threadId, item, context.now()), state: 'staged', position: null })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

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
  await thread.trx
    .updateTable('items')
    .set({ state: 'drained', payload: '{}' })
    .where('thread_id', '=', thread.threadId)
    .where('id', '=', id)
    .execute();
  thread.emit('message.deleted', { messageId: id });
}

export function emitRejections(thread: ThreadTransaction, rejections: readonly Refusal[]): void {
  for (const { id, code, reason } of rejections)
    thread.emit('item.rejected', { ...(id ? { id } : {}), code, reason });
}

/** Items that are queued no longer: they became messages, or the log says why not. */
export async function countTaken(
  { db }: CommandContext,
  threadId: string,
  itemIds: readonly string[],
): Promise<number> {
  if (itemIds.length === 0) return 0;
  const drained = await readInBatches(itemIds, (batch) =>
    db
      .selectFrom('items')
      .select('id')
      .where('thread_id', '=', threadId)
      .where('id', 'in', batch)
      .where('state', '=', 'drained')
      .execute(),
  );
  // Refusals are rare, and only the log has them: look there only for what is missing.
  if (drained.length === itemIds.length) return drained.length;
  const rejected = await db
    .selectFrom('events')
    .select('data')
    .where('thread_id', '=', threadId)
    .where(sql<boolean>`type = 'item.rejected'`) // as in their index (schema/migration-0031.ts)
    .execute();
  const ids = new Set(drained.map((row) => row.id));
  for (const { data } of rejected) {
    const { id } = JSON.parse(data) as { id?: string };
    if (id !== undefined && itemIds.includes(id)) ids.add(id);
  }
  return ids.size;
}
