/**
 * Turns queued items into messages, as a step begins (runtime §3.1): what the step took itself, then the store's pending rows,
 * or those of them that hooks have seen. The item's row stays, without its content, as the guard against a second copy.
 * D1. With two AI sides the first message decides who acts (definitions §22.40), and a queued tool is a call of that side. So all
 *     rows are read before the first is written.
 */
import type { Side } from '../../../core/author/thread-execution.ts';
import type { AttachmentRef } from '../../../core/message/message.ts';
import type { QueueItem } from '../../../core/thread/item.ts';
import { findAnswering, roleOf } from '../../../core/thread/session.ts';
import type { PreparedRow } from '../../port/hook.ts';
import type { BeginStep } from '../../port/step.ts';
import { QUEUED_TOOL, toQueuedCall, withPrepared } from '../../schema/pending-payload.ts';
import type { ThreadTransaction } from '../base/thread-transaction.ts';
import { putInLine } from './queue.ts';
import { resolveAttachments } from './queued-attachments.ts';

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
export const DRAIN_ROWS = 500;

/** What a step would take, read before anything of it is written (D1). */
export interface DueInput {
  /** Of the step's own items; then what was in line before them. */
  readonly rows: readonly DueRow[];
  /** Items of the step that were in line nowhere before. */
  readonly added: readonly QueueItem[];
  /** How many of them were in line. */
  readonly swept: number;
  /** The side that the first message makes act. */
  readonly answering: Side | undefined;
  readonly wantsAnswer: boolean;
  readonly hasTools: boolean;
}

/** Puts the step's own items in line, and reads what is to be drained. */
export async function readDue(
  thread: ThreadTransaction,
  { items, prepared, twoSides = false }: Pick<BeginStep, 'items' | 'prepared' | 'twoSides'>,
): Promise<DueInput> {
  const seen = prepared && new Map(prepared.map((row) => [row.id, row]));
  const { own, inLine, added } = await readQueue(thread, items, seen);
  // What the step took stands before the rows in line (core/queue I1), though its rows are younger.
  const rows = [...own, ...inLine].map(({ id, kind, payload }) => ({
    id,
    kind,
    item: JSON.parse(withPrepared(payload, seen?.get(id))) as DueRow['item'],
  }));
  const roles = rolesOf(rows);
  return {
    rows,
    added,
    swept: inLine.length,
    // D1: the first message decides.
    answering: twoSides ? findAnswering(roles) : undefined,
    wantsAnswer: wantsAnswer(roles, twoSides),
    hasTools: rows.some(({ kind }) => kind === 'tool'),
  };
}

export async function drain(
  thread: ThreadTransaction,
  { rows, swept }: DueInput,
  { executionId, twoSides = false }: Pick<BeginStep, 'executionId' | 'twoSides'>,
): Promise<Drained> {
  const accepted: DueRow[] = [];
  for (const row of rows) if (!(await refuseTakenId(thread, row.id))) accepted.push(row);
  const roles = rolesOf(accepted);
  const answering = twoSides ? findAnswering(roles) : undefined;
  if (answering !== undefined) thread.set({ side: answering });
  const tools: DrainedTool[] = [];
  for (const { id, kind, item } of accepted) {
    if (kind === 'tool') tools.push(await storeQueuedTool(thread, { ...item, id, executionId }));
    else await storeMessage(thread, id, item, executionId);
  }
  await markDrained(thread, rows);
  return { swept, wantsAnswer: wantsAnswer(roles, twoSides), tools };
}

function rolesOf(rows: readonly DueRow[]): string[] {
  return rows.flatMap(({ kind, item }) => (kind === 'message' ? [item.role] : []));
}

function wantsAnswer(roles: readonly string[], twoSides: boolean): boolean {
  return roles.some((role) => role === 'user' || (twoSides && role === 'assistant'));
}

/** Rows as hooks have made them, by their ids. */
type Seen = ReadonlyMap<string, PreparedRow>;

/** Rows of the items that the step took itself, and the rows that were in line. */
async function readQueue(thread: ThreadTransaction, items: BeginStep['items'], seen: Seen | undefined) {
  // Taken and drained in one transaction: nobody ever sees these waiting.
  const added: QueueItem[] = [];
  for (const item of items) if (await putInLine(thread, item)) added.push(item);
  const ids = items.map((item) => item.id);
  const own = ids.length > 0 ? await pendingRows(thread).where('id', 'in', ids).execute() : [];
  return { added, own, inLine: await readInLine(thread, ids, seen && [...seen.keys()]) };
}

/** Refused ones too. The row stays, without its content, so that the same item cannot come again. */
async function markDrained({ trx, threadId }: ThreadTransaction, rows: readonly DueRow[]): Promise<void> {
  if (rows.length === 0) return;
  const ids = rows.map(({ id }) => id);
  await trx
    .updateTable('items')
    .set({ state: 'drained', payload: '{}' })
    .where('thread_id', '=', threadId)
    .where('id', 'in', ids)
    .execute();
}

/** Pending rows beside those that a step took itself; where hooks have seen some, those alone. */
async function readInLine(thread: ThreadTransaction, taken: readonly string[], seen?: readonly string[]) {
  const wanted = seen?.filter((id) => !taken.includes(id));
  if (wanted?.length === 0) return [];
  let rows = pendingRows(thread);
  if (wanted) rows = rows.where('id', 'in', wanted);
  else if (taken.length > 0) rows = rows.where('id', 'not in', taken);
  return rows.limit(DRAIN_ROWS).execute();
}

function pendingRows(thread: ThreadTransaction) {
  return thread.trx
    .selectFrom('items')
    .select(['id', 'kind', 'payload'])
    .where('thread_id', '=', thread.threadId)
    .where('state', '=', 'queued')
    .orderBy('position');
}

interface DueRow {
  readonly id: string;
  readonly kind: 'message' | 'tool';
  readonly item: StoredMessagePayload & QueuedToolPayload;
}

interface StoredMessagePayload {
  readonly role: 'user' | 'assistant' | 'system';
  readonly content: string;
  readonly silent?: boolean;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly attachments?: readonly (string | AttachmentRef)[] | null;
}

async function storeMessage(
  thread: ThreadTransaction,
  id: string,
  { role, content, silent, ...queued }: StoredMessagePayload,
  executionId: string,
): Promise<void> {
  const resolved = await resolveAttachments(thread, id, queued.attachments);
  const metadata = { ...queued.metadata, ...resolved.metadata };
  await thread.insertMessage({ id, role, content, silent, ...resolved, metadata, executionId });
}

interface QueuedToolPayload {
  readonly name: string;
  readonly arguments: unknown;
  readonly origin?: 'code';
}

export interface NewQueuedTool
  extends QueuedToolPayload,
    Partial<Pick<StoredMessagePayload, 'content' | 'silent' | 'metadata' | 'attachments'>> {
  readonly id: string;
  readonly executionId: string;
}

/** The message with the call, in the step that is about to open. */
export async function storeQueuedTool(
  thread: ThreadTransaction,
  { id, executionId, ...item }: NewQueuedTool,
): Promise<DrainedTool> {
  const call = toQueuedCall(id, item);
  const { attachments } = await resolveAttachments(thread, id, item.attachments);
  await thread.insertMessage({
    id,
    role: roleOf(thread.row.side),
    content: item.content ?? null,
    toolCalls: [call],
    silent: item.silent,
    metadata: { ...item.metadata, ...QUEUED_TOOL },
    attachments,
    executionId,
    step: thread.row.last_step + 1,
  });
  return { callId: call.id, ...call.function, origin: item.origin ?? 'signal' };
}

/** An id that one of the thread's own messages bears cannot name another; the item is refused, visibly. */
export async function refuseTakenId(thread: ThreadTransaction, id: string): Promise<boolean> {
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
