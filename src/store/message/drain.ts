/**
 * Turns queued items into messages when a step begins (runtime §3.1): first the step's own, then the store's pending
 * rows, or those of them that hooks have seen. An item's row stays, without its content, to prevent a second copy. A
 * queued tool becomes a message of the acting side with the call, in the step that is about to open.
 * - With two AI sides the first message decides who acts (definitions §22.40), and a queued tool is a call of that
 *   side. So all rows are read before the first is written.
 * - The files that a queued message names (definitions §15.4) become references when the message is stored, in the
 *   same transaction, so the references describe the files at that time. A missing file does not fail the message,
 *   which lists the missing files.
 */
import { randomUUID } from 'node:crypto';
import type { InferResult, Kysely, Transaction } from 'kysely';
import type { Side } from '../../core/author/thread-execution.ts';
import { toAttachmentRef } from '../../core/file/attachment.ts';
import { tryFilePath } from '../../core/file/file-path.ts';
import type { Cancellation } from '../../core/governance/cancellation.ts';
import { writeContextMetadata } from '../../core/governance/context-metadata.ts';
import type { RunContext } from '../../core/governance/run-context.ts';
import type { AttachmentRef } from '../../core/message/message.ts';
import { selectDueItems } from '../../core/thread/execution-id.ts';
import type { QueueItem } from '../../core/thread/item.ts';
import { findAnswering } from '../../core/thread/session.ts';
import { describeSuperseded } from '../../core/thread/superseded.ts';
import type { JsonSchema } from '../../core/value/json-schema.ts';
import { readEarlyCancel, withCancellation } from '../execution/cancel.ts';
import { FILE_COLUMNS, type FileRow, toFileRecord } from '../file/file-tree.ts';
import {
  type ItemInLine,
  type NotedPart,
  readItem,
  type ToolInLine,
  toItemMessage,
  toQueuedCall,
} from '../schema/item-row.ts';
import type { Tables } from '../schema/tables.ts';
import type { BeginStep } from '../step/step-record.ts';
import { readInBatches, selectRows } from '../transaction/rows.ts';
import {
  type ContextPlace,
  composeContext,
  givenContext,
  type WithContext,
} from '../transaction/run-context.ts';
import { statement } from '../transaction/statement.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import { insertNote } from './message.ts';
import { putInLine } from './queue.ts';

export interface Drained {
  /** How many of the items were pending rows of the store. */
  readonly swept: number;
  /** At least one drained message asks for an answer. */
  readonly wantsAnswer: boolean;
  readonly tools: readonly DrainedTool[];
  /** True if no answer is wanted: not by who queued the tools, by a drained message, or by an open turn. */
  readonly unanswered: boolean;
  /** The context with which the execution runs, including what has joined it now; null if none was given. */
  readonly context: RunContext | null;
  /** The type of the answer, if an item gives one: of the execution that begins. */
  readonly answerType: JsonSchema | undefined;
  /** Set if the run of everything drained is cancelled, and no execution is open. */
  readonly canceled?: { readonly reason?: string; readonly by?: string };
}

/** Most pending rows that one step takes besides its own items; the rest wait for the next step. */
export const DRAIN_ROWS = 500;

/** What the items ask for, before it is known which of them are rejected. */
export interface InputWish {
  /** The side that has to answer the first message. */
  readonly answering: Side | undefined;
  readonly wantsAnswer: boolean;
  readonly hasTools: boolean;
}

/** What a step would take, read before anything of it is written. */
export interface DueInput extends InputWish {
  /** The step's own items, then the rows that were in line before them. */
  readonly rows: readonly DueRow[];
  /** The step's own items that were not in line before. */
  readonly added: readonly QueueItem[];
  /** How many of the rows were in line before. */
  readonly swept: number;
  /** The execution that the rows begin, if they name one. */
  readonly executionId?: string | undefined;
  /** The request to cancel that execution, made before it began. */
  readonly ahead: Cancellation | null;
  /** True if the step is requested without new input: nothing is in line, and no turn is open. */
  readonly unprompted: boolean;
  /** Ids of the items that stay in line. */
  readonly left: ReadonlySet<string>;
}

type DrainQuery = Pick<BeginStep, 'threadId' | 'items' | 'prepared'>;

/** Pending rows besides the step's own items, which are not in line yet; if hooks have seen some, only those. */
export function selectInLine(trx: Transaction<Tables>, { threadId, items, prepared }: DrainQuery) {
  if (items.length === 0 && !prepared) return selectAllInLine(trx, threadId);
  const own = items.map(({ id }) => id);
  const seen = prepared?.map(({ id }) => id).filter((id) => !own.includes(id));
  const rows = selectPending(trx, threadId).limit(seen?.length === 0 ? 0 : DRAIN_ROWS);
  if (seen && seen.length > 0) return rows.where('id', 'in', seen);
  return own.length > 0 ? rows.where('id', 'not in', own) : rows;
}

function selectPending(db: Kysely<Tables>, threadId: string) {
  return selectRows(db, 'items', { thread_id: threadId, state: 'queued' })
    .select(['id', 'kind', 'payload', 'own'])
    .orderBy('position');
}

const selectAllInLine = statement((db, threadId: string) => selectPending(db, threadId).limit(DRAIN_ROWS));

type PendingRow = InferResult<ReturnType<typeof selectPending>>[number];

type DrainOptions = Pick<BeginStep, 'items' | 'prepared' | 'twoSides' | 'unprompted'>;

/** Puts the step's own items in line, and returns what is to be drained, including the rows that were there before. */
export async function readDue(
  thread: ThreadTransaction,
  { items, prepared, twoSides = false, unprompted: asked }: DrainOptions,
  inLine: readonly PendingRow[],
  running: boolean,
): Promise<DueInput> {
  const { own, added } = await lineUp(thread, items);
  const seen = new Map(prepared?.map((row) => [row.id, row]));
  // The step's own items come before the rows in line (core/thread/queue.ts, I1), though their rows are newer.
  const all = [...own, ...inLine].map((row) => ({
    own: row.own,
    item: { ...readItem(row), ...seen.get(row.id) } as ItemInLine,
  }));
  const admitted = selectDueItems(all, running);
  const executionId = namedExecution(admitted);
  const ahead = await readEarlyCancel(thread, executionId);
  const rows = admitted.map(({ own, item }) => ({ own, item: withCancellation(item, ahead) }));
  const taken = new Set(rows.map(({ item }) => item.id));
  const unprompted = asked === true && all.length === 0 && thread.row.turn_open !== 1;
  const wish = wishOf(rows, twoSides);
  return {
    rows,
    added,
    swept: inLine.filter(({ id }) => taken.has(id)).length,
    left: new Set(all.flatMap(({ item: { id } }) => (taken.has(id) ? [] : [id]))),
    executionId,
    ahead,
    unprompted,
    ...wish,
    wantsAnswer: wish.wantsAnswer || unprompted,
  };
}

/** The execution that the admitted items begin, if one of them names it. */
export function namedExecution(admitted: readonly Pick<DueRow, 'item'>[]): string | undefined {
  return admitted.find(({ item }) => item.executionId !== undefined)?.item.executionId;
}

/** The first message decides who acts. */
export function wishOf(rows: readonly Pick<DueRow, 'item'>[], twoSides: boolean): InputWish {
  const roles = rows.flatMap(({ item }) => (item.kind === 'message' ? [item.role] : []));
  return {
    answering: twoSides ? findAnswering(roles) : undefined,
    wantsAnswer: roles.some((role) => role === 'user' || (twoSides && role === 'assistant')),
    hasTools: rows.some(({ item }) => item.kind === 'tool'),
  };
}

export async function drain(
  thread: ThreadTransaction,
  { rows, swept, ahead, unprompted }: DueInput,
  { executionId, twoSides = false, open, rules }: Pick<BeginStep, 'twoSides' | 'rules'> & ContextPlace,
): Promise<Drained> {
  const fresh = new Set(
    await rejectUsedIds(
      thread,
      rows.map(({ item }) => item),
    ),
  );
  const accepted = rows.filter(({ item }) => fresh.has(item) && !(twoSides && refuseType(thread, item)));
  const wanted = accepted.filter(({ item }) => givenContext(item)?.canceled !== true);
  const { answering, wantsAnswer: asksFor } = wishOf(wanted, twoSides);
  const wantsAnswer = asksFor || unprompted;
  if (answering !== undefined) thread.set({ side: answering });
  const canceled = open || wanted.length > 0 ? undefined : readCanceled(accepted.map(({ item }) => item));
  const counted = canceled ? accepted : wanted;
  const given = counted.flatMap(({ item }) => givenContext(item) ?? []);
  const context = composeContext(thread.row, given, { executionId, open });
  const tools: DrainedTool[] = [];
  for (const { item: queued } of accepted) {
    const item = writeContext(queued, context);
    // A queued tool of a cancelled run never runs, so its item is rejected; a message of such a run becomes history.
    if (item.kind === 'message') {
      const told = item.superseded?.acknowledged || rules?.(thread.row.agent).notesSuperseded;
      if (item.superseded && told) await noteSuperseded(thread, item.superseded, { executionId, twoSides });
      await storeItem(thread, item, { executionId });
    } else if (givenContext(queued)?.canceled)
      thread.emit('item.rejected', {
        id: item.id,
        code: 'InvalidMessage',
        reason: 'its context is canceled',
      });
    else tools.push(await storeQueuedTool(thread, item, executionId));
  }
  await markDrained(thread, rows);
  // Who waits for an answer still gets one, whatever is called in the meantime.
  const awaited = wantsAnswer || thread.row.turn_open === 1;
  const unanswered = !awaited && tools.length > 0 && tools.every((tool) => tool.unanswered);
  return {
    swept,
    wantsAnswer,
    tools,
    unanswered,
    context,
    answerType: accepted.map(({ item }) => typeOf(item)).find((type) => type !== undefined),
    canceled: canceled ? { ...canceled, by: ahead?.by || undefined } : undefined,
  };
}

function typeOf(item: ItemInLine): JsonSchema | undefined {
  return item.kind === 'message' ? item.output : undefined;
}

/** True if the item gives a type to an answer of an agent with two AI sides. */
function refuseType(thread: ThreadTransaction, item: ItemInLine): boolean {
  if (!typeOf(item)) return false;
  const reason = `"output" is not for an agent with two AI sides, such as "${thread.row.agent}": the arguments of its "sessionStop" tool are the type of its result`;
  thread.emit('item.rejected', { id: item.id, code: 'InvalidMessage', reason });
  return true;
}

/** Puts the step's own items in line as rows. Drained in the same transaction, they are never visible there. */
async function lineUp(thread: ThreadTransaction, items: BeginStep['items']) {
  if (items.length === 0) return { added: [], own: [] };
  const added: QueueItem[] = [];
  for (const item of items) if (await putInLine(thread, item)) added.push(item);
  const ids = items.map(({ id }) => id);
  const own = await selectPending(thread.trx, thread.threadId).where('id', 'in', ids).execute();
  return { added, own };
}

/** Marks rejected ones too. The row stays, without its content, so that the same item cannot come again. */
async function markDrained(thread: ThreadTransaction, rows: readonly DueRow[]): Promise<void> {
  if (rows.length === 0) return;
  const ids = rows.map(({ item }) => item.id);
  await thread.update('items', { id: ids }, { state: 'drained', payload: '{}' });
}

export interface DueRow extends Pick<PendingRow, 'own'> {
  readonly item: ItemInLine;
}

/** Stores the message that an item becomes, with references to its files. */
export async function storeItem(
  thread: ThreadTransaction,
  item: ItemInLine,
  place: { readonly executionId: string | null; readonly step?: number },
): Promise<void> {
  const message = toItemMessage(item, thread.row.side);
  const { attachments, missing } = await resolveAttachments(thread, item);
  await thread.insertMessage({
    ...message,
    attachments,
    ...place,
    metadata: { ...message.metadata, ...(missing.length > 0 ? { missingAttachments: missing } : {}) },
  });
}

/** Tells the model what a part that it no longer sees has done, directly before the message that it answers again. */
async function noteSuperseded(
  thread: ThreadTransaction,
  part: NotedPart,
  { executionId, twoSides }: { readonly executionId: string; readonly twoSides: boolean },
): Promise<void> {
  const content = describeSuperseded({ ...part, acknowledged: undefined });
  if (content === undefined) return;
  const note = { id: randomUUID(), content, metadata: { supersededNote: true }, executionId };
  await insertNote(thread, note, twoSides);
}

/** The items are cancelled all or none: returns the first one's reason; undefined if none is. */
function readCanceled([first]: readonly WithContext[]): { readonly reason?: string } | undefined {
  const context = first && givenContext(first);
  if (!context?.canceled) return undefined;
  return { reason: context.cancelReason };
}

/** Writes the composed context into the metadata of an item that brought a context. */
function writeContext<Item extends WithContext>(item: Item, context: RunContext | null): Item {
  if (context === null || givenContext(item) === null) return item;
  return { ...item, metadata: { ...item.metadata, ...writeContextMetadata(context) } };
}

/** Rejects items whose id a message of the thread has already, with an event for each; returns the others. */
export async function rejectUsedIds<Item extends { readonly id: string }>(
  thread: ThreadTransaction,
  items: readonly Item[],
): Promise<readonly Item[]> {
  const ids = items.map(({ id }) => id);
  const taken = await findUsedIds(thread.trx, thread.threadId, ids);
  for (const id of ids)
    if (taken.has(id))
      thread.emit('item.rejected', { id, code: 'InvalidMessage', reason: 'another message has this id' });
  return items.filter(({ id }) => !taken.has(id));
}

/** Returns those of the ids that messages have. */
export async function findUsedIds(
  trx: Transaction<Tables>,
  threadId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const found = await readInBatches(ids, (batch) =>
    selectRows(trx, 'messages', { thread_id: threadId, id: batch }).select('id').execute(),
  );
  return new Set(found.map(({ id }) => id));
}

/** A drained tool; it runs in the step that drained it. */
export interface DrainedTool {
  readonly callId: string;
  readonly name: string;
  readonly arguments: string;
  readonly origin: 'signal' | 'code';
  readonly unanswered: boolean;
}

/** The message with the call, in the step that is about to open. */
export async function storeQueuedTool(
  thread: ThreadTransaction,
  item: ToolInLine,
  executionId: string,
): Promise<DrainedTool> {
  const { id: callId, function: called } = toQueuedCall(item);
  await storeItem(thread, item, { executionId, step: thread.row.last_step + 1 });
  const { origin = 'signal', unanswered = false } = item;
  return { callId, ...called, origin, unanswered };
}

/** Resolves the attachments of an item. References are kept: the project's code has looked them up. */
async function resolveAttachments(thread: ThreadTransaction, { id, attachments: given }: ItemInLine) {
  if (!given || given.length === 0) return { attachments: null, missing: [] };
  const files = await findFiles(thread, given);
  const missing: string[] = [];
  const attachments = given.flatMap((each, index): AttachmentRef[] => {
    if (typeof each !== 'string') return [each];
    const file = files.get(tryFilePath(each) ?? '');
    // Derived from the message's id, so that each of its files has a different one.
    if (file) return [toAttachmentRef(`${id}:${index}`, toFileRecord(file))];
    missing.push(each);
    return [];
  });
  if (missing.length > 0) thread.emit('attachment.missing', { messageId: id, paths: missing });
  return { attachments, missing };
}

async function findFiles(
  thread: ThreadTransaction,
  given: readonly (string | AttachmentRef)[],
): Promise<ReadonlyMap<string, FileRow>> {
  const paths = given.flatMap((each) => (typeof each === 'string' ? (tryFilePath(each) ?? []) : []));
  if (paths.length === 0) return new Map();
  const rows = await thread
    .select('thread_files', { kind: 'file' })
    .select(FILE_COLUMNS)
    .where('path', 'in', paths)
    .execute();
  return new Map(rows.map((row) => [row.path, row]));
}
