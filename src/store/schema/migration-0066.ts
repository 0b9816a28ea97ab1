/** 0066: which variables of its parent the prompts of an immediate child may show. */
import type { Kysely, Migration } from 'kysely';
import type { Tables } from './tables.ts';

export const promotedEnv: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema.alterTable('children').addColumn('promoted', 'text').execute();
  },
};
