/**
 * The queue's durable half (runtime §9): items staged by clients, stashed by the workflow, queued by tools,
 * and drained by a step into messages. `(thread, item id)` is unique: whatever comes twice counts once.
 */
import type { QueueItem, Refusal } from '../../core/item.ts';
import type { ThreadTransaction } from '../thread-transaction.ts';
import { type CommandContext, inThread, refuseTerminated } from './context.ts';

/** A drained tool waits for its run in the step that drained it. */
export interface DrainedTool {
  readonly callId: string;
  readonly name: string;
  readonly arguments: string;
  readonly origin: 'signal' | 'code';
}

export interface Drained {
  /** Pending rows of the store among them. */
  readonly swept: number;
  /** At least one drained message asks for an answer. */
  readonly wantsAnswer: boolean;
  readonly tools: readonly DrainedTool[];
}

/** The most pending rows that one step takes beside its own items; the rest wait for the next. */
const DRAIN_ROWS = 500;

export async function countPending(thread: ThreadTransaction): Promise<number> {
  const { count } = await thread.trx
    .selectFrom('items')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('thread_id', '=', thread.threadId)
    .where('state', '=', 'queued')
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Puts an item in line and says so in the log. */
export async function enqueue(thread: ThreadTransaction, item: QueueItem): Promise<void> {
  if (!(await putInLine(thread, item))) return;
  thread.emit('item.queued', { id: item.id, kind: item.kind === 'tool' ? 'tool' : 'message' });
}

/** A staged item takes its place in line; one that is queued or drained already keeps it. True when it is new there. */
async function putInLine(thread: ThreadTransaction, item: QueueItem): Promise<boolean> {
  const position = thread.row.last_position + 1;
  const isNew =
    item.kind === 'stored'
      ? await lineUpStaged(thread, item, position)
      : await lineUp(thread, item, position);
  if (isNew) thread.set({ last_position: position });
  return isNew;
}

/** In one statement: a client may stage the same id at this very moment, and staging takes no lock on the thread. */
async function lineUp(thread: ThreadTransaction, item: QueueItem, position: number): Promise<boolean> {
  const written = await thread.trx
    .insertInto('items')
    .values({ ...toItemRow(thread.threadId, item, thread.now), state: 'queued', position })
    .onConflict((conflict) =>
      conflict
        .columns(['thread_id', 'id'])
        .doUpdateSet({ state: 'queued', position })
        .where('items.state', '=', 'staged'),
    )
    .executeTakeFirst();
  return Number(written.numInsertedOrUpdatedRows ?? 0) > 0;
}

/** What only names content that must have been staged. */
async function lineUpStaged(thread: ThreadTransaction, item: QueueItem, position: number): Promise<boolean> {
  if (await takeStaged(thread, item.id, position)) return true;
  const refused = await thread.trx
    .insertInto('items')
    .values({ ...toItemRow(thread.threadId, item, thread.now), state: 'drained', position: null })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  // There is such a row: known before, or staged since we looked.
  if (Number(refused.numInsertedOrUpdatedRows ?? 0) === 0) return takeStaged(thread, item.id, position);
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
    .executeTakeFirst();
  return Number(taken.numUpdatedRows) > 0;
}

function toItemRow(threadId: string, item: QueueItem, now: number) {
  const { id, kind, ...payload } = item;
  return {
    thread_id: threadId,
    id,
    kind: kind === 'tool' ? ('tool' as const) : ('message' as const),
    payload: JSON.stringify(payload),
    created_at: now,
  };
}

export async function stashItems(
  context: CommandContext,
  command: { threadId: string; runId: string; items: readonly QueueItem[] },
): Promise<{ waiting: number }> {
  return inThread(context, command.threadId, async (thread) => {
    if (thread.row.terminated_at !== null) return { waiting: 0 };
    await thread.admit(command.runId);
    for (const item of command.items) await enqueue(thread, item);
    return { waiting: await countPending(thread) };
  });
}

/** The thread may not be there yet: the first message of a new one is staged before it is started. */
export async function stageItem(context: CommandContext, threadId: string, item: QueueItem): Promise<void> {
  await context.db
    .insertInto('items')
    .values({ ...toItemRow(threadId, item, context.now()), state: 'staged', position: null })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export async function queueItem(context: CommandContext, threadId: string, item: QueueItem): Promise<void> {
  await inThread(context, threadId, async (thread) => {
    refuseTerminated(thread);
    await enqueue(thread, item);
  });
}

export function emitRejections(thread: ThreadTransaction, rejections: readonly Refusal[]): void {
  for (const { id, code, reason } of rejections)
    thread.emit('item.rejected', { ...(id ? { id } : {}), code, reason });
}

/** Turns what a step took, and then the store's pending rows, into messages, in order. */
export async function drain(
  thread: ThreadTransaction,
  items: readonly QueueItem[],
  executionId: string,
): Promise<Drained> {
  // Taken and drained in one transaction: nobody ever sees these waiting.
  for (const item of items) await putInLine(thread, item);
  const ids = items.map((item) => item.id);
  const taken = ids.length > 0 ? await pendingRows(thread).where('id', 'in', ids).execute() : [];
  const others = ids.length > 0 ? pendingRows(thread).where('id', 'not in', ids) : pendingRows(thread);
  const inLine = await others.limit(DRAIN_ROWS).execute();
  // What the step took stands before the rows in line (core/queue I1), though its rows are younger.
  const rows = [...taken, ...inLine];
  const tools: DrainedTool[] = [];
  let wantsAnswer = false;
  for (const row of rows) {
    if (await refuseTakenId(thread, row.id)) continue;
    if (row.kind === 'tool') tools.push(await drainTool(thread, row.id, row.payload, executionId));
    else wantsAnswer = (await drainMessage(thread, row.id, row.payload, executionId)) || wantsAnswer;
  }
  if (rows.length > 0) {
    await thread.trx
      .updateTable('items')
      // The message has the content from now on; the row stays as the guard against a second copy.
      .set({ state: 'drained', payload: '{}' })
      .where('thread_id', '=', thread.threadId)
      .where(
        'id',
        'in',
        rows.map((row) => row.id),
      )
      .execute();
  }
  return { swept: inLine.length, wantsAnswer, tools };
}

function pendingRows(thread: ThreadTransaction) {
  return thread.trx
    .selectFrom('items')
    .select(['id', 'kind', 'payload'])
    .where('thread_id', '=', thread.threadId)
    .where('state', '=', 'queued')
    .orderBy('position');
}

interface StoredMessagePayload {
  readonly role: 'user' | 'assistant' | 'system';
  readonly content: string;
  readonly silent?: boolean;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

async function drainMessage(
  thread: ThreadTransaction,
  id: string,
  payload: string,
  executionId: string,
): Promise<boolean> {
  const { role, content, silent, metadata } = JSON.parse(payload) as StoredMessagePayload;
  await thread.insertMessage({ id, role, content, silent, metadata, executionId });
  return role === 'user';
}

/** A queued tool is an assistant message with one call (decisions: queueTool). */
async function drainTool(
  thread: ThreadTransaction,
  id: string,
  payload: string,
  executionId: string,
): Promise<DrainedTool> {
  const item = JSON.parse(payload) as { name: string; arguments: unknown; origin?: 'code' };
  const callArguments = JSON.stringify(item.arguments);
  const callId = `queued_${id}`;
  await thread.insertMessage({
    id,
    role: 'assistant',
    content: null,
    toolCalls: [{ id: callId, type: 'function', function: { name: item.name, arguments: callArguments } }],
    metadata: { queuedTool: true },
    executionId,
    step: thread.row.last_step + 1,
  });
  return { callId, name: item.name, arguments: callArguments, origin: item.origin ?? 'signal' };
}

/** An id that one of the thread's own messages bears cannot name another; the item is refused, visibly. */
async function refuseTakenId(thread: ThreadTransaction, id: string): Promise<boolean> {
  const taken = await thread.trx
    .selectFrom('messages')
    .select('id')
    .where('thread_id', '=', thread.threadId)
    .where('id', '=', id)
    .executeTakeFirst();
  if (taken)
    thread.emit('item.rejected', { id, code: 'InvalidMessage', reason: 'another message has this id' });
  return taken !== undefined;
}
