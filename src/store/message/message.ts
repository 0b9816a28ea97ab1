/**
 * Messages that code writes, changes and removes (definitions §14.2).
 * - A message is removed with what depends on it: results of its calls, and sub-prompts' messages below those. One
 *   with an unfinished call is not removed: its tool may be running. Its files go with it.
 *
 * Files that are deleted with a message (definitions §14.2): those under /attachments that no other message of the
 * thread names, stored or waiting. A file elsewhere belongs to the thread's own code, and stays.
 */
import { type Selectable, sql } from 'kysely';
import type { ContextMessage } from '../../core/context/context.ts';
import { ATTACHMENT_FOLDER } from '../../core/file/attachment.ts';
import { tryFilePath } from '../../core/file/file-path.ts';
import {
  type ChangedMessage,
  type Message,
  type ToolCall,
  toChanges,
  type UnstoredMessage,
} from '../../core/message/message.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { definedFields } from '../../core/value/record.ts';
import { findFileRow, removeFile } from '../file/file-tree.ts';
import { forgetMessage } from '../request/keep-request.ts';
import { toMessage, toMessageColumns } from '../schema/rows.ts';
import type { MessageTable } from '../schema/tables.ts';
import { type CommandContext, inThread, refuseTerminated } from '../transaction/context.ts';
import { readInBatches } from '../transaction/rows.ts';
import { OPEN_CALL, selectStepMessages } from '../transaction/step-row.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import { READ_CHARS, toWords } from '../transaction/thread-words.ts';
import { dropQueued } from './queue.ts';

type MessageRow = Selectable<MessageTable>;

/** Stores a message that code has made; the same id again returns the existing one. */
export async function injectMessage(
  context: CommandContext,
  threadId: string,
  message: Parameters<ThreadTransaction['insertMessage']>[0],
): Promise<Message> {
  return inThread(context, threadId, async (thread) => {
    refuseTerminated(thread);
    const known = await thread.find('messages', { id: message.id });
    if (!known) await thread.insertMessage(message);
    return toMessage(known ?? (await thread.read('messages', { id: message.id })));
  });
}

/** Metadata is merged into what is there; a key set to null is removed. Rejects with `MessageNotFound`. */
export async function updateMessage(
  context: CommandContext,
  threadId: string,
  id: string,
  { metadata, attachments, ...fields }: ChangedMessage,
): Promise<Message> {
  return inThread(context, threadId, async (thread) => {
    refuseTerminated(thread);
    const row = await thread.find('messages', { id });
    if (!row) throw new RuntimeError('MessageNotFound', `Thread "${threadId}" has no message "${id}".`);
    const found = toMessage(row);
    const changed: Message = {
      ...found,
      ...definedFields(fields),
      metadata: metadata ? merge(found.metadata, metadata) : found.metadata,
      attachments: attachments ? (attachments.length > 0 ? attachments : null) : found.attachments,
    };
    if (JSON.stringify(changed) === JSON.stringify(found)) return found;
    await thread.update('messages', { id }, toMessageColumns(toChanges(changed)));
    if (differsForModel(changed, found)) {
      await retireSummaries(thread, found);
      await forgetMessage(thread, found, 'edited');
    }
    await rereadWords(thread);
    thread.emit('message.updated', { messageId: id, role: found.role });
    return changed;
  });
}

/** True if a model would read something else. */
function differsForModel(changed: Message, found: Message): boolean {
  const { content, attachments } = changed;
  return content !== found.content || JSON.stringify(attachments) !== JSON.stringify(found.attachments);
}

function merge(
  before: Readonly<Record<string, unknown>>,
  updates: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const merged = Object.entries({ ...before, ...updates });
  return Object.fromEntries(merged.filter(([, value]) => value !== null && value !== undefined));
}

/** False if there is none. Rejects with `MessageConflict` if a call of it has no result yet. */
export async function deleteMessage(context: CommandContext, threadId: string, id: string): Promise<boolean> {
  return inThread(context, threadId, async (thread) => {
    refuseTerminated(thread);
    const found = await thread.find('messages', { id });
    if (!found) return (await dropPending(thread, id)) || dropSuperseded(thread, id);
    await refuseOpenCalls(thread, found);
    const removed = await removeMessages(thread, found);
    await rereadWords(thread);
    await removeUnnamedFiles(thread, removed.flatMap(filesOf));
    return true;
  });
}

/** Stores what the model is told and nobody has said. */
export async function insertNote(
  thread: ThreadTransaction,
  note: Pick<UnstoredMessage, 'id' | 'content' | 'metadata'> & Partial<Pick<ContextMessage, 'executionId'>>,
  twoSides: boolean,
): Promise<void> {
  // With two sides, a user's message would be one of side B.
  await thread.insertMessage({ ...note, role: twoSides ? 'system' : 'user', silent: true });
}

/** The words that lists show keep nothing of a message that was changed or deleted. */
export async function rereadWords(thread: ThreadTransaction): Promise<void> {
  const ofUser = selectShown(thread, ['user']).orderBy('created_at');
  const newest = selectShown(thread, ['user', 'assistant']).orderBy('created_at', 'desc');
  const [first, last] = [await ofUser.executeTakeFirst(), await newest.executeTakeFirst()];
  thread.set({ first_words: toWords(first?.text ?? null), last_words: toWords(last?.text ?? null) });
}

function selectShown(thread: ThreadTransaction, roles: readonly Message['role'][]) {
  return thread
    .select('messages', { depth: 0, silent: 0 })
    .select(sql<string>`substr(content, 1, ${sql.lit(READ_CHARS)})`.as('text'))
    .where('role', 'in', roles)
    .where(sql<boolean>`trim(content, ${sql.lit(' \n\r\t')}) <> ''`)
    .limit(1);
}

/** Removes all earlier texts of a message that is no longer of the history. */
async function dropSuperseded(thread: ThreadTransaction, id: string): Promise<boolean> {
  if (!(await thread.has('superseded_messages', { id }))) return false;
  await thread.delete('superseded_messages', { id });
  thread.emit('message.deleted', { messageId: id });
  return true;
}

/** Removes a message that is still in line. */
async function dropPending(thread: ThreadTransaction, id: string): Promise<boolean> {
  const waiting = await thread.find('items', { id, state: 'queued' }, ['payload']);
  if (!waiting) return false;
  await dropQueued(thread, id);
  await removeUnnamedFiles(thread, attachmentsOf(waiting.payload));
  return true;
}

/** Throws `MessageConflict` if a call has no result yet. */
async function refuseOpenCalls(thread: ThreadTransaction, message: MessageRow): Promise<void> {
  const { step } = message;
  if (step === null || callIds(message).length === 0) return;
  const open = await thread
    .select('tool_calls', { step })
    .select('name')
    .where('state', 'in', OPEN_CALL)
    .executeTakeFirst();
  if (!open) return;
  throw new RuntimeError(
    'MessageConflict',
    `Message "${message.id}" of thread "${thread.threadId}" cannot be deleted: its call of "${open.name}" has no result yet.`,
  );
}

/** Returns all rows that were removed. */
async function removeMessages(thread: ThreadTransaction, message: MessageRow): Promise<MessageRow[]> {
  const gone = [message];
  for (const below of await findBelow(thread, message)) gone.push(...(await removeMessages(thread, below)));
  await thread.delete('messages', { id: message.id });
  thread.set({ message_count: thread.row.message_count - 1 });
  await retireSummaries(thread, message);
  await forgetMessage(thread, message, 'deleted');
  thread.emit('message.deleted', { messageId: message.id, role: message.role });
  return gone;
}

async function findBelow(thread: ThreadTransaction, message: MessageRow): Promise<MessageRow[]> {
  const { id, role, step } = message;
  const ids = callIds(message);
  const results =
    step === null
      ? []
      : await readInBatches(ids, (batch) =>
          selectStepMessages(thread.trx, thread.threadId, step)
            .selectAll()
            .where('tool_call_id', 'in', batch)
            .execute(),
        );
  const below =
    role === 'tool' ? await thread.select('messages', { parent_id: id }).selectAll().execute() : [];
  return [...results, ...below];
}

const callIds = ({ tool_calls: calls }: MessageRow): string[] =>
  calls ? (JSON.parse(calls) as ToolCall[]).map(({ id }) => id) : [];

/**
 * A changed or deleted message retires the summaries that cover it (step/summary.ts, S2, S3). Deletes the summaries
 * that cover a message of this time.
 */
export async function retireSummaries(
  thread: ThreadTransaction,
  { depth, created_at: at }: { readonly depth: number; readonly created_at: number },
): Promise<void> {
  // No summary covers messages of sub-prompts.
  if (thread.row.compacted === 0 || depth > 0) return;
  await thread.trx
    .deleteFrom('summaries')
    .where('thread_id', '=', thread.threadId)
    .where('until', '>=', at)
    .execute();
}

type NamedFile = string | { readonly path: string };

/** Must be called after the messages that named the files were removed. */
async function removeUnnamedFiles(thread: ThreadTransaction, named: readonly NamedFile[]): Promise<void> {
  const paths = new Set(named.flatMap(pathsOf));
  if (paths.size === 0) return;
  for (const path of await readNamed(thread)) paths.delete(path);
  for (const path of paths) {
    const row = await findFileRow(thread.trx, thread.threadId, path);
    if (row?.kind === 'file') await removeFile(thread, row);
  }
}

async function readNamed(thread: ThreadTransaction): Promise<string[]> {
  const messages = await thread
    .select('messages')
    .select('attachments')
    .where('attachments', 'is not', null)
    .execute();
  const items = await thread
    .select('items')
    .select('payload')
    .where('state', 'in', ['queued', 'staged'])
    .execute();
  return [...messages.flatMap(filesOf), ...items.flatMap(({ payload }) => attachmentsOf(payload))].flatMap(
    pathsOf,
  );
}

/** The attachments of a message's row. */
function filesOf({ attachments }: Pick<MessageRow, 'attachments'>): readonly NamedFile[] {
  return attachments ? JSON.parse(attachments) : [];
}

/** The attachments of an item, which may be paths. */
function attachmentsOf(payload: string): readonly NamedFile[] {
  return JSON.parse(payload).attachments ?? [];
}

function pathsOf(named: NamedFile): string[] {
  const path = tryFilePath(typeof named === 'string' ? named : named.path);
  return path?.startsWith(`${ATTACHMENT_FOLDER}/`) ? [path] : [];
}
