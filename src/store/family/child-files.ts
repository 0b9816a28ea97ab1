/**
 * Copies files from one thread of a family to another along with a message (runtime §7.4, definitions §13.6).
 * - A copy has its own path under /attachments, derived from the message and the source file: the same message again
 *   finds it. Its content is not copied: it gets one more name.
 * - A file that cannot be copied does not fail the message, which lists the missing files.
 * - If the message's text names a file that is copied, it names the copy; so do the arguments of a new thread.
 *
 * Replaces paths of files that were sent along with a message by those of their copies. Pure.
 */
import { createHash } from 'node:crypto';
import type { Selectable } from 'kysely';
import { ATTACHMENT_FOLDER, toAttachmentRef } from '../../core/file/attachment.ts';
import { parentOf, tryFilePath } from '../../core/file/file-path.ts';
import { extensionOf } from '../../core/file/mime-type.ts';
import type { FileRecord } from '../../core/file/thread-file.ts';
import type { AttachmentRef } from '../../core/message/message.ts';
import type { MessageItem } from '../../core/thread/item.ts';
import { isRuntimeError } from '../../core/value/error.ts';
import { addNames } from '../file/blob.ts';
import type { FileSource, ThreadFileTable } from '../file/file-record.ts';
import { emitFile, findFileRow, missingParents, requireRoom, toFileRecord } from '../file/file-tree.ts';
import { enqueue } from '../message/queue.ts';
import { type CommandContext, inThread, refuseTerminated } from '../transaction/context.ts';
import { findRow, insertRows } from '../transaction/rows.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';

type SourceRow = Selectable<ThreadFileTable>;

interface CopiedFiles {
  readonly attachments: readonly AttachmentRef[];
  /** Paths of files in the source thread that could not be copied. */
  readonly missing: readonly string[];
  /** The paths of the copies. */
  readonly paths: CopiedPaths;
}

/** Queues a message whose attachments are files of `from`. */
export async function enqueueFrom(to: ThreadTransaction, from: string, item: MessageItem): Promise<void> {
  const copied = await copyFiles(to, from, { id: item.id, given: item.attachments });
  await enqueueCopied(to, { ...item, content: replaceInText(item.content, copied.paths) }, copied);
}

interface FirstMessages {
  readonly messages: readonly MessageItem[];
  readonly arguments: Readonly<Record<string, unknown>>;
}

/**
 * Queues the first messages of a new thread. The files of all of them are copied first: each message, and the
 * arguments, which are returned, name the copies.
 */
export async function enqueueFirstMessages(
  to: ThreadTransaction,
  from: string,
  { messages, arguments: given }: FirstMessages,
): Promise<FirstMessages['arguments']> {
  const copied = new Map<string, CopiedFiles>();
  for (const { id, attachments } of messages)
    copied.set(id, await copyFiles(to, from, { id, given: attachments }));
  const paths = new Map([...copied.values()].flatMap((each) => [...each.paths]));
  const own = replaceInValue(given, paths);
  for (const item of messages) {
    const isArguments = item.metadata?.subagentInitialArguments === true;
    const content = isArguments ? JSON.stringify(own) : replaceInText(item.content, paths);
    await enqueueCopied(to, { ...item, content }, copied.get(item.id));
  }
  return own;
}

async function enqueueCopied(
  to: ThreadTransaction,
  { attachments: _, metadata, ...message }: MessageItem,
  { attachments, missing }: Pick<CopiedFiles, 'attachments' | 'missing'> = { attachments: [], missing: [] },
): Promise<void> {
  await enqueue(to, {
    ...message,
    metadata: missing.length > 0 ? { ...metadata, missingAttachments: missing } : metadata,
    attachments: attachments.length > 0 ? attachments : undefined,
  });
}

/** `id` is the message's. */
export async function copyFiles(
  to: ThreadTransaction,
  from: string,
  { id, given = [] }: { readonly id: string; readonly given?: readonly (string | AttachmentRef)[] },
): Promise<CopiedFiles> {
  const attachments: AttachmentRef[] = [];
  const missing: string[] = [];
  const paths = new Map<string, string>();
  for (const [index, each] of given.entries()) {
    const path = typeof each === 'string' ? each : each.path;
    const copy = await copyFile(to, from, { id: `${id}:${index}`, messageId: id, path, given: each });
    if (!copy) missing.push(path);
    else {
      attachments.push(copy);
      paths.set(tryFilePath(path) ?? path, copy.path);
    }
  }
  if (missing.length > 0) to.emit('attachment.missing', { messageId: id, paths: missing });
  return { attachments, missing, paths };
}

/**
 * Copies a file of a relative to this thread, for a message that code sends to it, under a path of its own, which the
 * same id and path give again. Null if there is no such file, or no room for it.
 */
export async function copyFileFrom(
  context: CommandContext,
  threadId: string,
  { from, path, id }: FileSource,
): Promise<FileRecord | null> {
  return inThread(context, threadId, async (to) => {
    refuseTerminated(to);
    const copy = await copyFile(to, from, { id, messageId: id, path, given: path });
    const row = copy && (await findFileRow(to.trx, threadId, copy.path));
    return row ? toFileRecord(row) : null;
  });
}

interface Copy {
  readonly id: string;
  readonly messageId: string;
  readonly path: string;
  readonly given: string | AttachmentRef;
}

async function copyFile(
  to: ThreadTransaction,
  from: string,
  { id, messageId, path, given }: Copy,
): Promise<AttachmentRef | undefined> {
  const source = await findSource(to, from, path);
  if (!source) return undefined;
  const shown = toAttachmentRef(id, toFileRecord(source), typeof given === 'string' ? {} : given);
  for (let salt = 0; ; salt++) {
    const key = createHash('sha256').update(`${to.threadId}:${messageId}:${from}:${source.path}:${salt}`);
    const target = nameCopy(shown, key.digest('hex').slice(0, 8));
    const there = await findFileRow(to.trx, to.threadId, target);
    if (there?.kind === 'file' && there.blob_id === source.blob_id) return { ...shown, path: target };
    if (there) continue;
    return (await putCopy(to, source, { ...shown, path: target })) ? { ...shown, path: target } : undefined;
  }
}

async function findSource(
  { trx }: ThreadTransaction,
  from: string,
  path: string,
): Promise<SourceRow | undefined> {
  // An invalid path becomes empty: no file has the empty path.
  const known = tryFilePath(path) ?? '';
  return findRow(trx, 'thread_files', { thread_id: from, path: known, kind: 'file' });
}

/** The name is readable, since models read it; the original name is kept in the metadata. */
function nameCopy({ name, mimeType }: AttachmentRef, mark: string): string {
  const stem = name
    .replace(/\.[A-Za-z0-9]{1,10}$/, '')
    .replace(/[^\p{L}\p{N}._-]+/gu, '_')
    .slice(0, 64)
    .toWellFormed()
    .replaceAll('\uFFFD', '');
  return `${ATTACHMENT_FOLDER}/${stem || 'file'}-${mark}${extensionOf(name, mimeType)}`;
}

/** Returns false if the thread has no room for the file, or if the file has been deleted in the meantime. */
async function putCopy(to: ThreadTransaction, source: SourceRow, shown: AttachmentRef): Promise<boolean> {
  const above = await makeRoom(to, source, shown.path);
  // The thread of the source is not locked.
  if (!above || !(await addNames(to.trx, source.blob_id))) return false;
  const { name, description, path } = shown;
  const own = source.metadata === null ? {} : (JSON.parse(source.metadata) as Record<string, unknown>);
  const row = {
    ...source,
    thread_id: to.threadId,
    path,
    parent: parentOf(path),
    metadata: JSON.stringify({ ...own, name, description }),
    created_at: to.now,
    updated_at: to.now,
  };
  await insertRows(to.trx, 'thread_files', [...above, row]);
  emitFile(to, 'file.created', row);
  return true;
}

async function makeRoom(
  to: ThreadTransaction,
  { size }: SourceRow,
  path: string,
): Promise<ThreadFileTable[] | undefined> {
  try {
    const above = await missingParents(to, path);
    await requireRoom(to, { entries: above.length + 1, bytes: size });
    return above;
  } catch (error) {
    if (isRuntimeError(error)) return undefined;
    throw error;
  }
}

/** The path of each copy, by the parsed path of its source. */
type CopiedPaths = ReadonlyMap<string, string>;

/** Replaces all in one pass, the longest first, as one path may begin another. JSON-escaped paths are replaced too. */
export function replaceInText(text: string, paths: CopiedPaths): string {
  if (paths.size === 0) return text;
  const written = new Map(
    [...paths].flatMap(([path, copy]) => [toPair(path, copy), toPair(inJson(path), copy)]),
  );
  const known = [...written.keys()].toSorted((a, b) => b.length - a.length).map(escapePattern);
  return text.replace(new RegExp(known.join('|'), 'g'), (path) => written.get(path) ?? path);
}

/**
 * Like `replaceInText`, for all texts and member names of a JSON value. A text that is only a path may have any form.
 */
function replaceInValue<T>(value: T, paths: CopiedPaths): T {
  return (paths.size === 0 ? value : replaceIn(value, paths)) as T;
}

function replaceIn(value: unknown, paths: CopiedPaths): unknown {
  if (typeof value === 'string') return paths.get(tryFilePath(value) ?? '') ?? replaceInText(value, paths);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => replaceIn(each, paths));
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [replaceInText(name, paths), replaceIn(each, paths)]),
  );
}

const toPair = (path: string, copy: string): [string, string] => [path, copy];

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
