/**
 * 0024: summaries of the older part of a history, by the side and the prompt that they were made for. A thread's row
 * says whether it has ever had one.
 */
import type { Kysely, Migration } from 'kysely';
import type { Tables } from './tables.ts';

export const summaries: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema
      .createTable('summaries')
      .addColumn('thread_id', 'text', (c) => c.notNull())
      .addColumn('side', 'text', (c) => c.notNull())
      .addColumn('prompt', 'text', (c) => c.notNull())
      .addColumn('scope', 'text', (c) => c.notNull())
      .addColumn('until', 'bigint', (c) => c.notNull())
      .addColumn('message_id', 'text', (c) => c.notNull())
      .addColumn('messages', 'integer', (c) => c.notNull())
      .addColumn('text', 'text', (c) => c.notNull())
      .addColumn('asked', 'text')
      .addColumn('step', 'integer', (c) => c.notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('summaries_key', ['thread_id', 'side', 'prompt', 'scope', 'until'])
      .execute();
    await db.schema
      .alterTable('threads')
      .addColumn('compacted', 'integer', (c) => c.notNull().defaultTo(0))
      .execute();
  },
};
