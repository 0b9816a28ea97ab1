/**
 * Ids of what code creates, derived from the store's id, the key of its work and a counter: a repeated attempt creates
 * the same ids, and a sender cannot guess an id and send an item under it.
 */
import { hash } from 'node:crypto';
import type { ThreadStore } from '../../store/store.ts';

export function createIds(store: Pick<ThreadStore, 'id'>, key: string): () => string {
  let made = 0;
  return () => hash('sha256', `${store.id}:${key}:${made++}`).slice(0, 32);
}
