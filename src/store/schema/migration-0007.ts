/** 0007: which copies of a parent's variables no prompt may show (runtime §7.4). Released; never edited. */
import type { Kysely, Migration } from 'kysely';
import type { Tables } from './tables.ts';

export const withheldEnv: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema
      .alterTable('env_values')
      .addColumn('withheld', 'integer', (c) => c.notNull().defaultTo(0))
      .execute();
  },
};
