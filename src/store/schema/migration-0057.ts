/** 0057: executions that code of one process produces, and until when that process counts as present. */
import type { Kysely, Migration } from 'kysely';
import type { Tables } from './tables.ts';

export const producers: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema.alterTable('executions').addColumn('produced', 'integer').execute();
    await db.schema
      .createTable('producers')
      .addColumn('thread_id', 'text', (c) => c.notNull())
      .addColumn('execution_id', 'text', (c) => c.notNull())
      .addColumn('holder', 'text', (c) => c.notNull())
      .addColumn('state', 'text', (c) => c.notNull())
      .addColumn('lines', 'integer', (c) => c.notNull())
      .addColumn('present_until', 'bigint', (c) => c.notNull())
      .addColumn('produced', 'text')
      .addPrimaryKeyConstraint('producers_key', ['thread_id', 'execution_id'])
      .execute();
    await db.schema
      .createIndex('producers_by_presence')
      .on('producers')
      .columns(['state', 'present_until'])
      .execute();
  },
};
