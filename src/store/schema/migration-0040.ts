/**
 * 0040: an index that counts the messages that pages leave out: silent ones, and those of sub-prompts. The count of the
 * others is the difference to all messages. It holds no others: engines would use an index of all messages for pages
 * too, and then sort the whole thread.
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
