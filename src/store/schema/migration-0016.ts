/**
 * 0016: for a time limit, the threads that work and since when (`{ since, threads }`); the budgets that an effect
 * spends from; and calls of code that were charged, by key.
 */
import type { Kysely, Migration } from 'kysely';
import type { Tables } from './tables.ts';

export const budgetTime: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema.alterTable('budgets').addColumn('running', 'text').execute();
    await db.schema.alterTable('effects').addColumn('budget', 'text').execute();
    await db.schema
      .createTable('budget_payments')
      .addColumn('thread_id', 'text', (c) => c.notNull())
      .addColumn('key', 'text', (c) => c.notNull())
      .addPrimaryKeyConstraint('budget_payments_key', ['thread_id', 'key'])
      .execute();
  },
};
