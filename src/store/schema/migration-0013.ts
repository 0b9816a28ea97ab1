/**
 * 0013: budgets of executions: a row for each limit, what model requests have reserved, and the budgets that a thread's
 * open execution spends from. Released; never edited.
 */
import type { Kysely, Migration } from 'kysely';
import type { Tables } from './tables.ts';

export const budgets: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema.alterTable('threads').addColumn('budget', 'text').execute();
    await db.schema.alterTable('child_reports').addColumn('budget', 'text').execute();
    await db.schema
      .createTable('budgets')
      .addColumn('thread_id', 'text', (c) => c.notNull())
      .addColumn('execution_id', 'text', (c) => c.notNull())
      .addColumn('name', 'text', (c) => c.notNull())
      .addColumn('max', 'double precision', (c) => c.notNull())
      .addColumn('used', 'double precision', (c) => c.notNull())
      .addColumn('reserved', 'double precision', (c) => c.notNull())
      .addColumn('estimated', 'double precision', (c) => c.notNull())
      .addColumn('warn_at', 'double precision', (c) => c.notNull())
      .addColumn('warned', 'integer', (c) => c.notNull())
      .addPrimaryKeyConstraint('budgets_key', ['thread_id', 'execution_id', 'name'])
      .execute();
    await db.schema
      .createTable('budget_reservations')
      .addColumn('thread_id', 'text', (c) => c.notNull())
      .addColumn('step', 'integer', (c) => c.notNull())
      .addColumn('attempt', 'integer', (c) => c.notNull())
      .addColumn('call', 'integer', (c) => c.notNull())
      .addColumn('accounts', 'text', (c) => c.notNull())
      .addColumn('root_thread_id', 'text', (c) => c.notNull())
      .addColumn('state', 'text', (c) => c.notNull())
      .addColumn('input', 'double precision', (c) => c.notNull())
      .addColumn('output', 'double precision', (c) => c.notNull())
      .addColumn('cost', 'double precision', (c) => c.notNull())
      .addColumn('max_output', 'integer')
      .addColumn('lease_until', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('budget_reservations_key', ['thread_id', 'step', 'attempt', 'call'])
      .execute();
    await db.schema
      .createIndex('budget_reservations_open')
      .on('budget_reservations')
      .columns(['root_thread_id', 'state'])
      .execute();
  },
};
