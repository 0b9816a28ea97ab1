/**
 * Completes the beginning of an id to the whole id, wherever a command takes the id of something stored.
 * - An id that exists is used as it is, and so is one that begins no stored id: it may not be stored yet.
 */
import { existsSync } from 'node:fs';
import { readConfiguration } from '../../configuration.ts';
import { isMadeId } from '../../core/thread/thread-id.ts';
import { RuntimeError } from '../../core/value/error.ts';
import type { IdKind } from '../../store/id/id-record.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { CommonOptions } from '../command.ts';
import { storeFile, withStore } from './find-store.ts';

/** Matches a complete id, which needs no lookup. */
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;
/** Fewest characters that are completed, as in git: a shorter id is probably a typing error. */
const MIN_PREFIX_LENGTH = 4;
const MAX_LISTED = 10;
const KIND_NAMES: Partial<Record<IdKind, string>> = { request: 'request for variables' };

/** An argument or an option that takes an id. */
interface IdPlace {
  readonly key: string;
  readonly kind: IdKind;
}

/**
 * Returns what a command is given with whole ids in place of their beginnings.
 * @throws RuntimeError `InvalidRequest` if several ids have the same beginning.
 */
export async function completeIds<T extends CommonOptions>(input: T, places: readonly IdPlace[]): Promise<T> {
  const open = places.flatMap(({ key, kind }) => {
    const id: unknown = input[key as keyof T];
    return typeof id === 'string' && id.length >= MIN_PREFIX_LENGTH && !UUID.test(id) && !isMadeId(id)
      ? [{ key, kind, id }]
      : [];
  });
  if (open.length === 0 || !hasStore(input.project)) return input;
  return withStore(input.project, async (store) => {
    const whole: Record<string, string> = {};
    for (const place of open) whole[place.key] = await complete(store, place);
    return { ...input, ...whole };
  });
}

async function complete(
  { ids }: ThreadStore,
  { kind, id }: { readonly kind: IdKind; readonly id: string },
): Promise<string> {
  const found = await ids.find({ kind, prefix: id, limit: MAX_LISTED + 1 });
  // The shortest one comes first.
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
