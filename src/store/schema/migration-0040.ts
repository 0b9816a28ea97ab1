/** 0040: messages that pages leave out, silent ones and those of sub-prompts, are counted from an index alone: the others are what is left of all. */
import type { Kysely, Migration } from 'kysely';
import type { Tables } from './tables.ts';

export const hiddenMessages: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema
      .createIndex('messages_by_kind')
      .on('messages')
      .columns(['thread_id', 'silent', 'depth'])
      .execute();
  },
};
