/** 0016: which threads a budget's time runs for, and since when: `{ since, threads }`. Of a line that limits time; else null. */
import type { Kysely, Migration } from 'kysely';
import type { Tables } from './tables.ts';

export const budgetTime: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema.alterTable('budgets').addColumn('running', 'text').execute();
  },
};
