/**
 * Completes the beginning of an id to the whole id, wherever a command takes the id of something stored.
 * C1. An id that exists is used as it is, and so is one that begins no stored id: it may not be stored yet.
 */
import { existsSync } from 'node:fs';
import { readConfiguration } from '../../configuration.ts';
import { isMadeId } from '../../core/thread/thread-id.ts';
import { RuntimeError } from '../../core/value/error.ts';
import type { IdKind } from '../../store/id/id-record.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { IdPlace } from '../input/id-places.ts';
import { storeFile, withStore } from './find-store.ts';

/** Matches a complete id, which needs no lookup. */
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;
/** Fewest characters that are completed, as in git: a shorter id is probably a typing error. */
const MIN_PREFIX_LENGTH = 4;
const MAX_LISTED = 10;
const KIND_NAMES: Partial<Record<IdKind, string>> = { request: 'request for variables' };

/**
 * Replaces beginnings of ids with whole ids before a command runs.
 * @throws RuntimeError `InvalidRequest` if several ids have the same beginning.
 */
export async function completeIds(project: string, places: readonly IdPlace[]): Promise<void> {
  const open = places.filter(({ id }) => id.length >= MIN_PREFIX_LENGTH && !UUID.test(id) && !isMadeId(id));
  if (open.length === 0 || !hasStore(project)) return;
  await withStore(project, async (store) => {
    for (const place of open) place.complete(await complete(store, place));
  });
}

async function complete({ ids }: ThreadStore, { kind, id }: IdPlace): Promise<string> {
  const found = await ids.find({ kind, prefix: id, limit: MAX_LISTED + 1 });
  // C1: the shortest one comes first.
  if (found.length < 2 || found[0] === id) return found[0] ?? id;
  const more = found.length > MAX_LISTED ? ', …' : '';
  throw new RuntimeError(
    'InvalidRequest',
    `More than one ${KIND_NAMES[kind] ?? kind} begins with "${id}": ${found.slice(0, MAX_LISTED).join(', ')}${more}. Give more characters of it.`,
  );
}

function hasStore(project: string): boolean {
  const file = storeFile(readConfiguration().store, project);
  return file === undefined || existsSync(file);
}
