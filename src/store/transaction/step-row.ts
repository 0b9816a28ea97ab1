/** The row of a step, identified in its thread by its number. */
import type { Kysely, Selectable } from 'kysely';
import type { StepTable, Tables } from '../schema/tables.ts';
import { selectRow } from './rows.ts';

export type StepRow = Selectable<StepTable>;

export function selectStep(db: Kysely<Tables>, threadId: string, step: number) {
  return selectRow(db, 'steps', { thread_id: threadId, step });
}
