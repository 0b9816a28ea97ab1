/**
 * Contents of files, stored once per store under their SHA-256, in rows of at most 1 MiB.
 * - `names` counts the files that have a content; removing the last one removes the content, in one transaction.
 * - A content of several chunks is written before the transaction that names it, chunk by chunk under its own id: no
 *   transaction is long, and no other writer waits. Unclaimed chunks are discarded by their writer, or a later one if
 *   it died.
 * - The row of a content decides between two writers of the same one: the second finds it and drops its own copy.
 * - A streamed content is read as fast as it is stored, in constant memory. Its hash is known only at the end, so its
 *   chunks are written even if the store has them.
 */
import { createHash, randomUUID } from 'node:crypto';
import { setImmediate as breathe } from 'node:timers/promises';
import type { Kysely, Transaction } from 'kysely';
import { RuntimeError } from '../../core/value/error.ts';
import { LIMITS } from '../../core/value/limit.ts';
import type { Tables } from '../schema/tables.ts';
import type { CommandContext } from '../transaction/context.ts';
import { deleteRow, deleteRows, hasRow, insertRows } from '../transaction/rows.ts';

const CHUNK_BYTES = LIMITS.fileChunkBytes;
const ABANDONED_US = 24 * 60 * 60 * 1_000_000;

/** The bytes of a file, or a stream of them, in parts of any length. */
export type Source = Uint8Array | AsyncIterable<Uint8Array>;

export interface Content {
  readonly size: number;
  readonly hash: string;
  /** Its first bytes, a chunk at most. */
  readonly head: Uint8Array;
  /** The id of an upload that has its chunks; or its bytes, to be written if the content is new. */
  readonly held: { readonly upload: string } | { readonly bytes: Uint8Array };
}

/** Called before chunks are written, with the size as far as known. Rejects if the content cannot be stored. */
export type CheckSize = (size: number) => Promise<void>;

/** Hashes a content and, if it is large and new, writes its chunks. `discard` must be called when all is done. */
export async function uploadContent(
  context: CommandContext,
  source: Source,
  allow: CheckSize,
): Promise<{ content: Content; discard: () => Promise<void> }> {
  const content =
    Symbol.asyncIterator in source
      ? await uploadStream(context, source, allow)
      : await uploadBytes(context, source, allow);
  const { held } = content;
  return { content, discard: async () => ('upload' in held ? abandon(context, held.upload) : undefined) };
}

async function uploadBytes(context: CommandContext, bytes: Uint8Array, allow: CheckSize): Promise<Content> {
  const isLarge = bytes.length > CHUNK_BYTES;
  if (isLarge) await allow(bytes.length);
  const hash = await hashOf(bytes);
  const head = bytes.subarray(0, CHUNK_BYTES);
  if (!isLarge || (await hasRow(context.db, 'blobs', { hash })))
    return { size: bytes.length, hash, head, held: { bytes } };
  const upload = await openUpload(context);
  await orAbandon(context, upload, async () => {
    for (const [index, chunk] of chunksOf(bytes).entries()) await putChunk(context, upload, index, chunk);
  });
  return { size: bytes.length, hash, head, held: { upload } };
}

/** No more is held than the chunk that is being filled, and the first one. */
async function uploadStream(
  context: CommandContext,
  source: AsyncIterable<Uint8Array>,
  allow: CheckSize,
): Promise<Content> {
  const filled = inChunks(source);
  try {
    return await uploadChunks(context, filled, allow);
  } finally {
    // The source learns that no more is read.
    await filled.return(undefined);
  }
}

async function uploadChunks(
  context: CommandContext,
  filled: AsyncGenerator<Uint8Array, undefined>,
  allow: CheckSize,
): Promise<Content> {
  const hash = createHash('sha256');
  const head = (await filled.next()).value ?? new Uint8Array(0);
  hash.update(head);
  let size = head.length;
  const second = (await filled.next()).value;
  if (!second) return { size, hash: hash.digest('hex'), head, held: { bytes: head } };
  await allow(size + second.length);
  const upload = await openUpload(context);
  await orAbandon(context, upload, async () => {
    await putChunk(context, upload, 0, head);
    let index = 1;
    for (let chunk: Uint8Array | undefined = second; chunk; chunk = (await filled.next()).value) {
      size += chunk.length;
      hash.update(chunk);
      await putChunk(context, upload, index++, chunk);
    }
  });
  return { size, hash: hash.digest('hex'), head, held: { upload } };
}

/** Splits a stream into chunks, all full but the last. Throws `LimitExceeded` above the size limit of a file. */
async function* inChunks(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, undefined> {
  let chunk = new Uint8Array(CHUNK_BYTES);
  let filled = 0;
  let size = 0;
  for await (const part of source) {
    size += part.length;
    requireFileSize(size);
    for (let at = 0; at < part.length; ) {
      const taken = part.subarray(at, at + CHUNK_BYTES - filled);
      chunk.set(taken, filled);
      filled += taken.length;
      at += taken.length;
      if (filled < CHUNK_BYTES) continue;
      yield chunk;
      chunk = new Uint8Array(CHUNK_BYTES);
      filled = 0;
    }
  }
  if (filled > 0) yield chunk.subarray(0, filled);
  return undefined;
}

function requireFileSize(size: number): void {
  if (size > LIMITS.fileBytes)
    throw new RuntimeError('LimitExceeded', `The file has more than ${LIMITS.fileBytes} bytes.`);
}

/** Yields regularly: a million bytes take a millisecond, and heartbeats run on this thread. */
async function hashOf(bytes: Uint8Array): Promise<string> {
  const hash = createHash('sha256');
  for (const [index, chunk] of chunksOf(bytes).entries()) {
    hash.update(chunk);
    if (index % 4 === 3) await breathe();
  }
  return hash.digest('hex');
}

export function countChunks(size: number): number {
  return Math.ceil(size / CHUNK_BYTES);
}

function chunksOf(bytes: Uint8Array): Uint8Array[] {
  return Array.from({ length: countChunks(bytes.length) }, (_, index) =>
    bytes.subarray(index * CHUNK_BYTES, (index + 1) * CHUNK_BYTES),
  );
}

async function openUpload(context: CommandContext): Promise<string> {
  await sweepUploads(context);
  const id = randomUUID();
  await insertRows(context.db, 'blob_uploads', [{ id, begun_at: context.now() }]);
  return id;
}

async function putChunk(context: CommandContext, id: string, idx: number, data: Uint8Array): Promise<void> {
  await context.db.transaction().execute(async (trx) => {
    await insertRows(trx, 'blob_chunks', [{ blob_id: id, idx, data }]);
    // The transaction that names the content comes later and waits for the disk.
    await context.relax(trx);
  });
  await breathe();
}

/** An upload that fails leaves nothing behind. */
async function orAbandon(context: CommandContext, upload: string, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    await abandon(context, upload);
    throw error;
  }
}

/** Never rejects, as that would hide the outcome of the file; the next upload sweeps. */
async function abandon({ db }: CommandContext, upload: string): Promise<void> {
  await discardUpload(db, upload).catch(() => undefined);
}

/** Discards the uploads of writers that died. */
async function sweepUploads(context: CommandContext): Promise<void> {
  const abandoned = await context.db
    .selectFrom('blob_uploads')
    .select('id')
    .where('begun_at', '<', context.now() - ABANDONED_US)
    .execute();
  for (const { id } of abandoned) await discardUpload(context.db, id);
}

/** Removes the chunks of an upload that no transaction has claimed. */
async function discardUpload(db: Kysely<Tables>, id: string): Promise<void> {
  await db.transaction().execute(async (trx) => {
    // False if it has been claimed or swept already.
    if (await deleteRow(trx, 'blob_uploads', { id })) await deleteRows(trx, 'blob_chunks', { blob_id: id });
  });
}

/** Gives a content one more name and returns its id; null for no bytes. */
export async function linkContent(trx: Transaction<Tables>, content: Content): Promise<string | null> {
  const { size, hash, held: how } = content;
  if (size === 0) return null;
  const id = 'upload' in how ? how.upload : randomUUID();
  const { id: held } = await trx
    .insertInto('blobs')
    .values({ id, hash, size, names: 1 })
    .onConflict((conflict) =>
      conflict.column('hash').doUpdateSet((eb) => ({ names: eb('blobs.names', '+', 1) })),
    )
    .returning('id')
    .executeTakeFirstOrThrow();
  if (held !== id) return held;
  if ('upload' in how) {
    if (!(await deleteRow(trx, 'blob_uploads', { id })))
      throw new Error('The upload of this file took longer than a day.');
  }
  // The content is small; or it was known, and its last name was removed in the meantime.
  else
    for (const [idx, data] of chunksOf(how.bytes).entries())
      await insertRows(trx, 'blob_chunks', [{ blob_id: id, idx, data }]);
  return id;
}

/** Gives a content more names; false if it was deleted with its last one since its file was read. None for no bytes. */
export async function addNames(trx: Transaction<Tables>, id: string | null, names = 1): Promise<boolean> {
  if (id === null) return true;
  const linked = await trx
    .updateTable('blobs')
    .set((eb) => ({ names: eb('names', '+', names) }))
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst();
  return linked !== undefined;
}

/** Takes one name away from a content; the last one removes the content too. */
export async function releaseContent(trx: Transaction<Tables>, id: string | null): Promise<void> {
  if (id === null) return;
  const { names } = await trx
    .updateTable('blobs')
    .set((eb) => ({ names: eb('names', '-', 1) }))
    .where('id', '=', id)
    .returning('names')
    .executeTakeFirstOrThrow();
  if (names > 0) return;
  await deleteRows(trx, 'blobs', { id });
  await deleteRows(trx, 'blob_chunks', { blob_id: id });
}
