/** 0067: what clients have stored before they signal its id: content of starts, and reasons. */
import type { Kysely, Migration } from 'kysely';
import type { Tables } from './tables.ts';

export const sentContents: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema
      .createTable('sent_contents')
      .addColumn('thread_id', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('content', 'text', (c) => c.notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('sent_contents_key', ['thread_id', 'id'])
      .execute();
  },
};
