/**
 * Hands queued items to the store. An item that the store cannot take must not block those behind it: the batch is
 * halved until that item is alone, and it becomes an event `item.rejected`. After any other fault, such as an
 * unreachable store, the activity is retried like any commit. Items that were stored before a half failed are stored
 * once (item id).
 */

import type { ActivityOutcome } from '../../core/thread/activities.ts';
import type { QueueItem, Refusal } from '../../core/thread/item.ts';
import { refuseContent } from '../../core/thread/signalled-content.ts';
import type { StashInput } from '../../core/thread/step.ts';
import { errorMessage } from '../../core/value/error.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { FromRun } from '../../store/transaction/from-run.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { fromRun } from '../base/run-ref.ts';

type SpillStore = { readonly queue: Pick<ThreadStore['queue'], 'spill'> };

/** `rejections`: of items that were refused before. */
interface Arrived {
  readonly items: readonly QueueItem[];
  readonly rejections?: readonly Refusal[];
}

export function stashItems(
  { store, refusesContent }: ActivityDependencies,
  { items, ...run }: StashInput,
): Promise<Stashed> {
  return spillItems(store, fromRun(store, run), refusesContent ? refuseContent(items) : { items });
}

type Stashed = ActivityOutcome<'stashItems'>;

export async function spillItems(
  store: SpillStore,
  run: FromRun,
  { items, rejections = [] }: Arrived,
): Promise<Stashed> {
  try {
    return await store.queue.spill({ ...run, items, rejections });
  } catch (error) {
    if (!isCausedByItem(error)) throw error;
    if (items.length === 1) {
      const refused = [...rejections, toRejection(items, error)];
      return store.queue.spill({ ...run, items: [], rejections: refused });
    }
    const half = Math.ceil(items.length / 2);
    await spillItems(store, run, { items: items.slice(0, half), rejections });
    return spillItems(store, run, { items: items.slice(half) });
  }
}

/** SQLSTATE classes "data exception" and "program limit exceeded". */
const DATA_ERROR = /^(22|54)[0-9A-Z]{3}$/;
/** SQLITE_TOOBIG, SQLITE_MISMATCH. */
const SQLITE_DATA_ERRORS: readonly unknown[] = [18, 20];

/** True if the item itself is the cause, so that it would fail in the same way at any time. */
function isCausedByItem(error: unknown): boolean {
  const { name, code, errcode } = (error ?? {}) as { name?: string; code?: unknown; errcode?: unknown };
  // JSON that is too deep or too long to be made. A TypeError would be a bug of ours, and would reject all items.
  if (name === 'RangeError') return true;
  return (typeof code === 'string' && DATA_ERROR.test(code)) || SQLITE_DATA_ERRORS.includes(errcode);
}

function toRejection([item]: readonly QueueItem[], error: unknown): Refusal {
  const reason = `it cannot be stored: ${errorMessage(error)}`.slice(0, 500);
  return { id: item?.id, code: 'InvalidMessage', reason };
}
