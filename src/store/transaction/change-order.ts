/**
 * The order in which changes of threads become visible to other transactions: what the feed of changes stands on
 * (thread/changes.ts). Each engine knows its own; no clock takes part.
 * - A thread's row has the number of the transaction that last changed its place in lists (`moved`), and one that
 *     grows with each change of what lists show (`changed`). A thread that is not running is moved by every write.
 */
import type { Kysely, RawBuilder, Transaction } from 'kysely';
import type { Tables } from '../schema/tables.ts';

export interface ChangeOrder {
  /** SQL of the number of the present transaction; read under the lock of a thread. */
  readonly number: RawBuilder<number>;
  /** The next `changed` of a row. */
  next(before: number, number: number): number;
  /** Throws `InvalidCursor` for a mark that this store has not returned. */
  check(mark: string, now: string): void;
  /** What is visible in this snapshot. */
  readMark(trx: Transaction<Tables>): Promise<string>;
  /** SQL: the row was moved by a transaction that the mark does not contain. */
  movedSince(mark: string): RawBuilder<boolean>;
  /** SQL: the row was moved by a transaction that the mark contains. */
  movedUntil(mark: string): RawBuilder<boolean>;
  /** SQL, for running threads: changed by a transaction that the mark does not contain; absent if rows do not tell. */
  changedSince?(mark: string): RawBuilder<boolean>;
}

/** Reads the number of the present transaction, for a row that is about to be inserted. */
export async function readNumber(
  { order }: { readonly order: Pick<ChangeOrder, 'number'> },
  trx: Kysely<Tables>,
): Promise<number> {
  const { number } = await trx.selectNoFrom(order.number.as('number')).executeTakeFirstOrThrow();
  return number;
}
