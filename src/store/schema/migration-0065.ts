/** 0065: notes of memory hooks, each of a thread, found by the thread's user and organisation. */
import type { Kysely, Migration } from 'kysely';
import type { Tables } from './tables.ts';

export const memoryNotes: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema
      .createTable('memory_notes')
      .addColumn('thread_id', 'text', (c) => c.notNull())
      .addColumn('digest', 'text', (c) => c.notNull())
      .addColumn('organization_id', 'text')
      .addColumn('user_id', 'text')
      .addColumn('asked', 'text', (c) => c.notNull())
      .addColumn('answered', 'text', (c) => c.notNull())
      .addColumn('noted_at', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('memory_notes_key', ['thread_id', 'digest'])
      .execute();
    await db.schema
      .createIndex('memory_notes_by_user')
      .on('memory_notes')
      .columns(['user_id', 'organization_id', 'noted_at'])
      .execute();
  },
};
