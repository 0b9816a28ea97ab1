/** 0013: budgets of executions: a row for each limit, and where a thread's execution finds its own. Released; never edited. */
import type { Kysely, Migration } from 'kysely';
import type { Tables } from './tables.ts';

export const budgets: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema.alterTable('threads').addColumn('budget', 'text').execute();
    await db.schema
      .createTable('budgets')
      .addColumn('thread_id', 'text', (c) => c.notNull())
      .addColumn('execution_id', 'text', (c) => c.notNull())
      .addColumn('name', 'text', (c) => c.notNull())
      .addColumn('max', 'double precision', (c) => c.notNull())
      .addColumn('used', 'double precision', (c) => c.notNull())
      .addColumn('reserved', 'double precision', (c) => c.notNull())
      .addColumn('warn_at', 'double precision', (c) => c.notNull())
      .addColumn('warned', 'integer', (c) => c.notNull())
      .addPrimaryKeyConstraint('budgets_key', ['thread_id', 'execution_id', 'name'])
      .execute();
  },
};
