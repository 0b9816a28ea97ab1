/**
 * What the limits of steps count (core/thread/step-limit.ts). The count is the store's, so it is the same for a run that goes on
 * where another one was killed.
 * C1. It begins anew with an execution that has input from outside in line, and with no other.
 * C2. A step counts from its opening, whatever becomes of it, unless a new run has to open another in its place.
 */
import type { Transaction } from 'kysely';
import type { Side } from '../../../core/author/thread-execution.ts';
import type { SideSteps } from '../../../core/thread/session.ts';
import type { Tables } from '../../schema/tables.ts';
import type { ThreadRow, ThreadTransaction } from './thread-transaction.ts';

type Counted = Pick<ThreadRow, 'id' | 'counted_from'>;

/** Steps of each side as far as `last`, which may be open. */
export async function countSteps(
  db: Transaction<Tables>,
  { id, counted_from: first }: Counted,
  last: number,
): Promise<SideSteps> {
  const counts = await selectCounts(db, { id, counted_from: first }).where('step', '<=', last).execute();
  return toSideSteps(counts);
}

/** Steps of each side before one that is to begin. One that is still open is a retired run's, and will be replaced (C2). */
export async function countEnded(db: Transaction<Tables>, thread: Counted): Promise<SideSteps> {
  return toSideSteps(await selectCounts(db, thread).where('state', '!=', 'open').execute());
}

function selectCounts(db: Transaction<Tables>, { id, counted_from: first }: Counted) {
  return (
    db
      .selectFrom('steps')
      .select((eb) => ['side', eb.fn.countAll<number>().as('count')])
      .where('thread_id', '=', id)
      .where('step', '>=', first)
      .where('kind', 'in', ['model', 'tools'])
      // C2: the step in its place counts.
      .where('state', '!=', 'abandoned')
      .groupBy('side')
  );
}

function toSideSteps(counts: readonly { readonly side: Side; readonly count: number }[]): SideSteps {
  const of = (side: Side) => Number(counts.find((each) => each.side === side)?.count ?? 0);
  return { a: of('a'), b: of('b') };
}

/** C1: a new execution. False where nobody outside asked for it: its steps count on. */
export async function beginCount(
  thread: ThreadTransaction,
  inLine: readonly { readonly own: number }[],
): Promise<boolean> {
  const outside = inLine.some(({ own }) => own === 0) || (await hasOutsideInput(thread.trx, thread.threadId));
  if (outside) thread.set({ counted_from: thread.row.last_step + 1 });
  return outside;
}

/** Something is in line that the thread's own executions have not queued. */
export async function hasOutsideInput(db: Transaction<Tables>, threadId: string): Promise<boolean> {
  const item = await db
    .selectFrom('items')
    .select('id')
    .where('thread_id', '=', threadId)
    .where('state', '=', 'queued')
    .where('own', '=', 0)
    .limit(1)
    .executeTakeFirst();
  return item !== undefined;
}
