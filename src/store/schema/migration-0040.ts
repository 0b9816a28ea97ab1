/**
 * 0040: messages that pages leave out, silent ones and those of sub-prompts, are counted from an index of their own: the others are what is
 * left of all. It holds those alone: one of all messages would be taken for pages as well, which then were sorted whole.
 */
import { type Kysely, type Migration, sql } from 'kysely';
import type { Tables } from './tables.ts';

export const hiddenMessages: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema
      .createIndex('messages_hidden')
      .on('messages')
      .columns(['thread_id', 'silent', 'depth'])
      .where(sql<boolean>`(silent = 1 or depth > 0)`)
      .execute();
  },
};
