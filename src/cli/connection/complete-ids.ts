/**
 * The beginning of an id stands for the whole, wherever a command wants one of what is stored.
 * C1. An id that is there is taken as it is, and so is one that nothing begins with: it may be on its way to the store.
 */
import { existsSync } from 'node:fs';
import { readConfiguration } from '../../configuration.ts';
import { isMadeId } from '../../core/thread/thread-id.ts';
import { RuntimeError } from '../../core/value/error.ts';
import type { IdKind } from '../../store/port/id.ts';
import type { ThreadStore } from '../../store/port/thread-store.ts';
import type { IdPlace } from '../input/id-places.ts';
import { storeFile, withStore } from './find-store.ts';

/** Such an id is complete, and costs no look. */
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;
/** As in git: fewer characters are a slip of the hand. */
const SHORTEST = 4;
const LISTED = 10;
const NAMES: Partial<Record<IdKind, string>> = { request: 'request for variables' };

/**
 * Before a command runs: puts whole ids in place of their beginnings.
 * @throws RuntimeError `InvalidRequest` where several begin like that.
 */
export async function completeIds(project: string, places: readonly IdPlace[]): Promise<void> {
  const open = places.filter(({ id }) => id.length >= SHORTEST && !UUID.test(id) && !isMadeId(id));
  if (open.length === 0 || !hasStore(project)) return;
  await withStore(project, async (store) => {
    for (const place of open) place.complete(await complete(store, place));
  });
}

async function complete({ ids }: ThreadStore, { kind, id }: IdPlace): Promise<string> {
  const found = await ids.find({ kind, prefix: id, limit: LISTED + 1 });
  // C1: the shortest one comes first.
  if (found.length < 2 || found[0] === id) return found[0] ?? id;
  const more = found.length > LISTED ? ', …' : '';
  throw new RuntimeError(
    'InvalidRequest',
    `More than one ${NAMES[kind] ?? kind} begins with "${id}": ${found.slice(0, LISTED).join(', ')}${more}. Give more of it.`,
  );
}

function hasStore(project: string): boolean {
  const file = storeFile(readConfiguration().store, project);
  return file === undefined || existsSync(file);
}
