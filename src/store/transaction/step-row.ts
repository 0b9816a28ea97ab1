/** The row of a step, identified in its thread by its number. */
import type { Kysely, Selectable, Updateable } from 'kysely';
import type { StepTable, Tables } from '../schema/tables.ts';
import { selectRows, updateRows } from './rows.ts';
import { statement } from './statement.ts';
import type { ThreadTransaction } from './thread-transaction.ts';

export type StepRow = Selectable<StepTable>;

export function selectStep(db: Kysely<Tables>, threadId: string, step: number) {
  return selectRows(db, 'steps', { thread_id: threadId, step });
}

/** Selects all columns of a step. */
export const selectWholeStep = statement((db, threadId: string, step: number) =>
  selectStep(db, threadId, step).selectAll(),
);

export async function updateStep(
  { trx, threadId }: ThreadTransaction,
  step: number,
  changes: Updateable<StepTable>,
): Promise<void> {
  await updateRows(trx, 'steps', { thread_id: threadId, step }, changes);
}
