/** 0064: the parts of an answer, with what its provider needs back (core/message/answer-parts.ts). */
import type { Kysely, Migration } from 'kysely';
import type { Tables } from './tables.ts';

export const answerParts: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema.alterTable('messages').addColumn('parts', 'text').execute();
  },
};
