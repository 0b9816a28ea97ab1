/**
 * 0019: the budgets that an execution has spent from, stored when it ends: a list of `{ threadId, executionId }`, null
 * if there were none.
 */
import type { Kysely, Migration } from 'kysely';
import type { Tables } from './tables.ts';

export const endedBudgets: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema.alterTable('executions').addColumn('budget', 'text').execute();
  },
};
