/** 0019: the budgets that an execution has spent from, kept with its end: a list of `{ threadId, executionId }`, null where there were none. */
import type { Kysely, Migration } from 'kysely';
import type { Tables } from './tables.ts';

export const endedBudgets: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema.alterTable('executions').addColumn('budget', 'text').execute();
  },
};
