/** 0052: tasks of agents elsewhere, one row for each call that began one. */
import { type Kysely, type Migration, sql } from 'kysely';
import type { Tables } from './tables.ts';

export const a2aTasks: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema
      .createTable('a2a_tasks')
      .addColumn('thread_id', 'text', (c) => c.notNull())
      .addColumn('step', 'integer', (c) => c.notNull())
      .addColumn('idx', 'integer', (c) => c.notNull())
      .addColumn('agent', 'text', (c) => c.notNull())
      .addColumn('context_id', 'text', (c) => c.notNull())
      .addColumn('message_id', 'text', (c) => c.notNull())
      .addColumn('endpoint', 'text', (c) => c.notNull())
      .addColumn('task_id', 'text')
      .addColumn('answers', 'integer', (c) => c.notNull())
      .addColumn('open', 'integer', (c) => c.notNull())
      .addColumn('sent_at', 'bigint', (c) => c.notNull())
      .addColumn('silent_since', 'bigint')
      .addColumn('cancels', 'integer', (c) => c.notNull())
      .addPrimaryKeyConstraint('a2a_tasks_key', ['thread_id', 'step', 'idx'])
      .execute();
    // Partial: few are open at a time, and every worker looks for those that must be cancelled.
    await db.schema
      .createIndex('a2a_tasks_open')
      .on('a2a_tasks')
      .column('thread_id')
      .where(sql<boolean>`open = 1`)
      .execute();
  },
};
