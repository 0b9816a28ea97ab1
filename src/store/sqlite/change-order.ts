/**
 * Changes by counting: there is one writer at a time, so commits become visible in the order of their numbers. Each
 * transaction that moves a thread takes the number after the greatest one of all rows.
 * - A write that moves nothing takes no number, since that would be another page on the disk for each: of running
 *   threads it is only known that some have changed (thread/changes.ts, Y6).
 */
import { sql } from 'kysely';
import { RuntimeError } from '../../core/value/error.ts';
import type { ChangeOrder } from '../transaction/change-order.ts';

const greatest = sql<number>`coalesce((select max(moved) from threads), 0)`;

export const sqliteChanges: ChangeOrder = {
  number: sql<number>`${greatest} + 1`,
  next: (before) => before + 1,
  check(mark, now) {
    if (/^\d{1,15}$/.test(mark) && Number(mark) <= Number(now)) return;
    throw new RuntimeError(
      'InvalidCursor',
      `${JSON.stringify(mark.slice(0, 64))} is not a cursor of this store: list the threads, and follow the changes without a cursor.`,
    );
  },
  async readMark(trx) {
    const { mark } = await trx.selectNoFrom(greatest.as('mark')).executeTakeFirstOrThrow();
    return String(mark);
  },
  movedSince: (mark) => sql<boolean>`moved > ${Number(mark)}`,
  movedUntil: (mark) => sql<boolean>`moved <= ${Number(mark)}`,
};
