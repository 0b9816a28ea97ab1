/** 0006: author code that has brought its worker process down. Released; never edited. */
import type { Kysely, Migration } from 'kysely';
import type { Tables } from './tables.ts';

export const strikes: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema
      .createTable('author_strikes')
      .addColumn('work', 'text', (c) => c.primaryKey())
      .addColumn('thread_id', 'text', (c) => c.notNull())
      .addColumn('code', 'text', (c) => c.notNull())
      .addColumn('name', 'text', (c) => c.notNull())
      .addColumn('deaths', 'text', (c) => c.notNull())
      .addColumn('updated_at', 'bigint', (c) => c.notNull())
      .execute();
  },
};
