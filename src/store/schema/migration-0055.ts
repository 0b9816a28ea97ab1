/** 0055: sessions of backends, by owner and id. Existing rows are not changed. */
import type { Kysely, Migration } from 'kysely';
import type { Tables } from './tables.ts';

export const taskSessions: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema
      .createTable('task_sessions')
      .addColumn('owner', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('backend', 'text', (c) => c.notNull())
      .addColumn('status', 'text', (c) => c.notNull())
      .addColumn('resume_token', 'text')
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('updated_at', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('task_sessions_key', ['owner', 'id'])
      .execute();
  },
};
