/**
 * Writes a whole file (definitions §18): first the content (blob.ts), then its name, in the thread's transaction. The
 * natural key is (thread, path): the same write twice is one file. A write replaces everything but the time of
 * creation.
 */
import { parentOf, parseFilePath } from '../../core/file/file-path.ts';
import { readImageSize } from '../../core/file/image-size.ts';
import { isImageType, parseMimeType } from '../../core/file/mime-type.ts';
import type { FileRecord } from '../../core/file/thread-file.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { toJsonText } from '../../core/value/json-value.ts';
import { LIMITS } from '../../core/value/limit.ts';
import { type CommandContext, inThread, refuseTerminated } from '../transaction/context.ts';
import { insertRows, updateRows } from '../transaction/rows.ts';
import {
  type CheckSize,
  type Content,
  linkContent,
  releaseContent,
  type Source,
  uploadContent,
} from './blob.ts';
import type { NewFile, ThreadFileTable } from './file-record.ts';
import {
  conflict,
  emitFile,
  type FileRow,
  findFileRow,
  missingParents,
  requireRoom,
  type TreePlace,
  toFileRecord,
} from './file-tree.ts';

/** Writes a file. Replaces an existing file, but not a directory. */
export async function writeFile(
  context: CommandContext,
  threadId: string,
  file: NewFile,
): Promise<FileRecord> {
  const path = toFilePath(file.path);
  const fields = readStatedFields(file);
  // Checked before a large content is written, and again in the transaction that names it.
  const allow = (size: number) =>
    inThread(context, threadId, async (thread) => {
      refuseTerminated(thread);
      await preparePath(thread, path, size);
    });
  return withContent(context, file.content, allow, (content) =>
    inThread(context, threadId, async (thread) => {
      refuseTerminated(thread);
      const { row, before } = await putFile(thread, path, toColumns(fields, content), content);
      if (!before) emitFile(thread, 'file.created', row);
      // None if the same file is written again.
      else if (
        before.blob_id !== row.blob_id ||
        before.mime_type !== row.mime_type ||
        before.metadata !== row.metadata
      )
        emitFile(thread, 'file.updated', row);
      return toFileRecord(row);
    }),
  );
}

/**
 * Writes a file of a thread that may not exist yet, as `stageItem` does with a message: one that the first message of
 * a new thread names. Emits no event, since there is no log.
 */
export async function stageFile(
  context: CommandContext,
  threadId: string,
  file: NewFile,
): Promise<FileRecord> {
  const path = toFilePath(file.path);
  const fields = readStatedFields(file);
  return withContent(
    context,
    file.content,
    async () => undefined,
    (content) =>
      context.db.transaction().execute(async (trx) => {
        const place = { trx, threadId, now: context.now() };
        const { row } = await putFile(place, path, toColumns(fields, content), content);
        return toFileRecord(row);
      }),
  );
}

function toFilePath(given: string): string {
  const path = parseFilePath(given);
  if (path === '/') throw conflict('is a directory: /');
  return path;
}

async function withContent<T>(
  context: CommandContext,
  source: Source,
  allow: CheckSize,
  put: (content: Content) => Promise<T>,
): Promise<T> {
  const { content, discard } = await uploadContent(context, source, allow);
  try {
    return await put(content);
  } finally {
    await discard();
  }
}

type Columns = Pick<ThreadFileTable, 'mime_type' | 'size' | 'metadata' | 'width' | 'height' | 'thumbnail'>;
type StatedFields = Omit<Columns, 'size'>;

/** Validates what the caller states about the file. Throws before anything is written. */
function readStatedFields({ content, mimeType, metadata, thumbnail, width, height }: NewFile): StatedFields {
  if ('length' in content) requireSize('A file', content, LIMITS.fileBytes);
  if (thumbnail) requireSize('A thumbnail', thumbnail, LIMITS.thumbnailBytes);
  return {
    mime_type: parseMimeType(mimeType),
    metadata:
      metadata === undefined || metadata === null
        ? null
        : toJsonText(metadata, { name: 'metadata', maxBytes: LIMITS.fileMetadataBytes }),
    width: toPixels('width', width) ?? null,
    height: toPixels('height', height) ?? null,
    thumbnail: thumbnail ?? null,
  };
}

function toColumns(fields: StatedFields, { size, head }: Content): Columns {
  const read = isImageType(fields.mime_type) ? readImageSize(head) : undefined;
  return {
    ...fields,
    size,
    width: fields.width ?? read?.width ?? null,
    height: fields.height ?? read?.height ?? null,
  };
}

function requireSize(what: string, { length }: Uint8Array, limit: number): void {
  if (length <= limit) return;
  throw new RuntimeError('LimitExceeded', `${what} can have at most ${limit} bytes; this one has ${length}.`);
}

const MAX_PIXELS = 2 ** 31 - 1;

function toPixels(name: string, value: number | undefined | null): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (Number.isInteger(value) && value > 0 && value <= MAX_PIXELS) return value;
  throw new RuntimeError('InvalidValue', `${name} must be a whole number of pixels above 0.`);
}

/** Finds what is at the path, and which directories it lacks. Throws if it cannot have a file of this size. */
async function preparePath(
  thread: TreePlace,
  path: string,
  size: number,
): Promise<{ before: FileRow | undefined; missing: ThreadFileTable[] }> {
  const before = await findFileRow(thread.trx, thread.threadId, path);
  if (before && before.kind !== 'file') throw conflict(`is a directory: ${path}`);
  const missing = before ? [] : await missingParents(thread, path);
  await requireRoom(thread, {
    entries: before ? 0 : missing.length + 1,
    bytes: size - (before?.size ?? 0),
  });
  return { before, missing };
}

async function putFile(
  thread: TreePlace,
  path: string,
  columns: Columns,
  content: Content,
): Promise<{ row: ThreadFileTable; before: FileRow | undefined }> {
  const { trx, threadId, now } = thread;
  const { before, missing } = await preparePath(thread, path, columns.size);
  const row: ThreadFileTable = {
    ...columns,
    thread_id: threadId,
    path,
    parent: parentOf(path),
    kind: 'file',
    blob_id: await linkContent(trx, content),
    created_at: before?.created_at ?? now,
    updated_at: now,
  };
  if (before) {
    await updateRows(trx, 'thread_files', { thread_id: threadId, path }, row);
    // Released after the new one was linked: both may be the same.
    await releaseContent(trx, before.blob_id);
  } else {
    await insertRows(trx, 'thread_files', [...missing, row]);
  }
  return { row, before };
}
