/** Manifests that tasks have run with, for comparison: each stored once, under the hash of its content. */
import type { ManifestDocument } from '../../core/author/manifest.ts';
import { type CommandContext, inRun } from '../transaction/context.ts';
import type { FromRun } from '../transaction/from-run.ts';
import { findRow } from '../transaction/rows.ts';
import { requireTask, updateTask } from './task.ts';

/** Stores a manifest under its hash. Idempotent. */
export async function saveManifest(
  { db, now }: CommandContext,
  hash: string,
  document: ManifestDocument,
): Promise<void> {
  const known = await findRow(db, 'manifests', { hash }, ['hash']);
  if (known) return;
  await db
    .insertInto('manifests')
    .values({ hash, document: JSON.stringify(document), created_at: now() })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/**
 * Sets the manifest that a task runs with from now on, as a newer build works for it; event `task.manifest` if it
 * differs from the one before. Repeating changes nothing.
 */
export async function noteManifest(
  context: CommandContext,
  { manifest, ...run }: FromRun & { readonly manifest: string | null },
): Promise<void> {
  await inRun(context, run, async (thread) => {
    const { manifest: from } = await requireTask(thread);
    if (from === manifest) return;
    await updateTask(thread, { manifest });
    thread.emit('task.manifest', { from, to: manifest });
  });
}

/** Fewest digits of an abbreviated hash. */
const MIN_DIGITS = 8;

/** Finds a manifest by its hash, or by at least its first 8 digits; null if there is none, or more than one. */
export async function getManifest({ db }: CommandContext, hash: string) {
  if (!/^[0-9a-f]{1,64}$/.test(hash) || hash.length < MIN_DIGITS) return null;
  const found = await db
    .selectFrom('manifests')
    .select(['hash', 'document'])
    .where('hash', 'like', `${hash}%`)
    .limit(2)
    .execute();
  const [only] = found;
  if (!only || found.length > 1) return null;
  return { hash: only.hash, document: JSON.parse(only.document) as ManifestDocument };
}
