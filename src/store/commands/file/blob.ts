/**
 * Contents of files, kept once for the store under their SHA-256, in rows of at most 1 MiB.
 * B1. `names` counts the files that have a content; who takes the last one away removes it in the same transaction.
 * B2. A content of several chunks is written before the transaction that names it, chunk by chunk under an id of its own:
 *     no transaction is long, and no other writer waits. What no transaction claimed is discarded, by its writer or,
 *     when that died, by a later one.
 * B3. The row of a content decides between two writers of the same one: the second finds it and drops its own copy.
 */
import { createHash, randomUUID } from 'node:crypto';
import { setImmediate as breathe } from 'node:timers/promises';
import type { Kysely, Transaction } from 'kysely';
import { LIMITS } from '../../../core/value/limit.ts';
import type { Tables } from '../../schema/tables.ts';
import type { CommandContext } from '../base/context.ts';

const CHUNK = LIMITS.fileChunkBytes;
const ABANDONED_US = 24 * 60 * 60 * 1_000_000;

export interface Content {
  readonly bytes: Uint8Array;
  readonly hash: string;
  /** Id of the upload that holds its chunks; null when they are still to be written, if at all. */
  readonly upload: string | null;
}

/** Hashes a content and, where it is large and new, writes its chunks. `discard` is called when all is done. */
export async function bringIn(
  context: CommandContext,
  bytes: Uint8Array,
): Promise<{ content: Content; discard: () => Promise<void> }> {
  const hash = await hashOf(bytes);
  const known = bytes.length <= CHUNK || (await isKnown(context, hash));
  const upload = known ? null : await uploadChunks(context, bytes);
  return {
    content: { bytes, hash, upload },
    discard: async () => {
      // Its failure must not hide what became of the file; the next upload sweeps.
      if (upload !== null) await discardUpload(context.db, upload).catch(() => undefined);
    },
  };
}

/** A million bytes take a millisecond; heartbeats live on this thread. */
async function hashOf(bytes: Uint8Array): Promise<string> {
  const hash = createHash('sha256');
  for (const [index, chunk] of chunksOf(bytes).entries()) {
    hash.update(chunk);
    if (index % 4 === 3) await breathe();
  }
  return hash.digest('hex');
}

export function countChunks(size: number): number {
  return Math.ceil(size / CHUNK);
}

function chunksOf(bytes: Uint8Array): Uint8Array[] {
  return Array.from({ length: countChunks(bytes.length) }, (_, index) =>
    bytes.subarray(index * CHUNK, (index + 1) * CHUNK),
  );
}

async function isKnown({ db }: CommandContext, hash: string): Promise<boolean> {
  return (
    (await db.selectFrom('blobs').select('id').where('hash', '=', hash).executeTakeFirst()) !== undefined
  );
}

async function uploadChunks(context: CommandContext, bytes: Uint8Array): Promise<string> {
  const { db } = context;
  await sweepUploads(context);
  const id = randomUUID();
  await db.insertInto('blob_uploads').values({ id, begun_at: context.now() }).execute();
  for (const [idx, data] of chunksOf(bytes).entries()) {
    await db.transaction().execute(async (trx) => {
      await trx.insertInto('blob_chunks').values({ blob_id: id, idx, data }).execute();
      // The transaction that names the content comes later and waits for the disk.
      await context.relax(trx);
    });
    await breathe();
  }
  return id;
}

/** Uploads of writers that died. */
async function sweepUploads(context: CommandContext): Promise<void> {
  const abandoned = await context.db
    .selectFrom('blob_uploads')
    .select('id')
    .where('begun_at', '<', context.now() - ABANDONED_US)
    .execute();
  for (const { id } of abandoned) await discardUpload(context.db, id);
}

/** Removes the chunks of an upload that nobody claimed. */
async function discardUpload(db: Kysely<Tables>, id: string): Promise<void> {
  await db.transaction().execute(async (trx) => {
    if (await takeUpload(trx, id)) await trx.deleteFrom('blob_chunks').where('blob_id', '=', id).execute();
  });
}

/** Gives a content one more name and answers its id; null for no bytes. */
export async function linkContent(trx: Transaction<Tables>, content: Content): Promise<string | null> {
  const { bytes, hash, upload } = content;
  if (bytes.length === 0) return null;
  const id = upload ?? randomUUID();
  const { id: held } = await trx
    .insertInto('blobs')
    .values({ id, hash, size: bytes.length, names: 1 })
    .onConflict((conflict) =>
      conflict.column('hash').doUpdateSet((eb) => ({ names: eb('blobs.names', '+', 1) })),
    )
    .returning('id')
    .executeTakeFirstOrThrow();
  if (held !== id) return held;
  if (upload !== null) await claimUpload(trx, upload);
  // Small; or large and known, until its last name went while this one was on its way.
  else
    for (const [idx, data] of chunksOf(bytes).entries())
      await trx.insertInto('blob_chunks').values({ blob_id: id, idx, data }).execute();
  return id;
}

async function claimUpload(trx: Transaction<Tables>, id: string): Promise<void> {
  if (!(await takeUpload(trx, id))) throw new Error('The upload of this file took longer than a day.');
}

/** False: somebody else has claimed or swept it. */
async function takeUpload(trx: Transaction<Tables>, id: string): Promise<boolean> {
  const taken = await trx.deleteFrom('blob_uploads').where('id', '=', id).returning('id').executeTakeFirst();
  return taken !== undefined;
}

/** Takes one name away from a content; the last one takes the content along (B1). */
export async function releaseContent(trx: Transaction<Tables>, id: string | null): Promise<void> {
  if (id === null) return;
  const { names } = await trx
    .updateTable('blobs')
    .set((eb) => ({ names: eb('names', '-', 1) }))
    .where('id', '=', id)
    .returning('names')
    .executeTakeFirstOrThrow();
  if (names > 0) return;
  await trx.deleteFrom('blobs').where('id', '=', id).executeTakeFirst();
  await trx.deleteFrom('blob_chunks').where('blob_id', '=', id).executeTakeFirst();
}
