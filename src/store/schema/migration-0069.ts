/** 0069: the digest of an item's content, by which another content under the same id is refused. */
import type { Kysely, Migration } from 'kysely';
import type { Tables } from './tables.ts';

export const itemDigests: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema.alterTable('items').addColumn('digest', 'text').execute();
  },
};
