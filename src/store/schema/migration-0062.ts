/** 0062: how the models of a thread count the tokens of its requests. */
import type { Kysely, Migration } from 'kysely';
import type { Tables } from './tables.ts';

export const modelCounts: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema.alterTable('threads').addColumn('model_counts', 'text').execute();
  },
};
