/**
 * Changes by transaction ids. Commits become visible in any order, and a transaction may take as long as it likes; so a
 * mark is a whole snapshot: which transactions were over, and which of the earlier ones were not.
 * - What a snapshot does not contain, a later one either contains or leaves for the next: nothing is lost, however late
 *   it commits, and nothing comes twice.
 * - Rows of a database that was restored elsewhere may have ids that are still to come: those are left out until the
 *   row is written again. Marks of that database are refused if they lie ahead.
 */
import { sql } from 'kysely';
import { RuntimeError } from '../../core/value/error.ts';
import type { ChangeOrder } from '../transaction/change-order.ts';

const MARK = /^(?<oldest>\d{1,19}):(?<next>\d{1,19}):(\d{1,19}(,\d{1,19})*)?$/;

export const postgresChanges: ChangeOrder = {
  number: sql<number>`txid_current()`,
  next: (_, number) => number,
  check(mark, now) {
    if (nextOf(mark) <= nextOf(now)) return;
    throw new RuntimeError(
      'InvalidCursor',
      'The cursor lies ahead of this store, which may have been restored: list the threads, and follow the changes without a cursor.',
    );
  },
  async readMark(trx) {
    const { mark } = await trx
      .selectNoFrom(sql<string>`txid_current_snapshot()::text`.as('mark'))
      .executeTakeFirstOrThrow();
    return mark;
  },
  // The first two conditions follow from the third: they bound the index.
  movedSince: (mark) => sql<boolean>`(moved >= ${oldestOf(mark)}::bigint and ${isPast('moved')}
    and not txid_visible_in_snapshot(moved, ${mark}::txid_snapshot))`,
  movedUntil: (mark) => sql<boolean>`txid_visible_in_snapshot(moved, ${mark}::txid_snapshot)`,
  changedSince: (mark) => sql<boolean>`(${isPast('changed')}
    and not txid_visible_in_snapshot(changed, ${mark}::txid_snapshot))`,
};

const isPast = (column: 'moved' | 'changed') =>
  sql`${sql.ref(column)} < txid_snapshot_xmax(txid_current_snapshot())`;
const nextOf = (mark: string) => BigInt(partsOf(mark).next ?? 0);
const oldestOf = (mark: string) => partsOf(mark).oldest;

function partsOf(mark: string) {
  const { groups } = MARK.exec(mark) ?? {};
  if (groups) return groups;
  throw new RuntimeError(
    'InvalidCursor',
    `${JSON.stringify(mark.slice(0, 64))} is not a cursor of the changes of threads: use the one that was returned with them.`,
  );
}
