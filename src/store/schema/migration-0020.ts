/** 0020: open waits of descendants that block a thread, which the thread shows. */
import type { Kysely, Migration } from 'kysely';
import type { Tables } from './tables.ts';

export const shownWaits: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema
      .createTable('shown_waits')
      .addColumn('thread_id', 'text', (c) => c.notNull())
      .addColumn('wait_id', 'text', (c) => c.notNull())
      .addPrimaryKeyConstraint('shown_waits_key', ['thread_id', 'wait_id'])
      .execute();
  },
};
