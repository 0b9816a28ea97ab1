/**
 * Ids of what a piece of code makes, derived from the key of its work and a count: a repeated attempt makes the same ones,
 * and nobody can guess one who might send an item under it.
 */
import { createHash } from 'node:crypto';
import type { ThreadStore } from '../store/port/thread-store.ts';

export function createIds(store: Pick<ThreadStore, 'id'>, key: string): () => string {
  let made = 0;
  return () => createHash('sha256').update(`${store.id}:${key}:${made++}`).digest('hex').slice(0, 32);
}
