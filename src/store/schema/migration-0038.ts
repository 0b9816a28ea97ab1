/**
 * 0038: threads whose workflows have not read which waits of descendants they show now. The index is partial: few
 * threads are in this state at a time.
 */
import { type Kysely, type Migration, sql } from 'kysely';
import type { Tables } from './tables.ts';

export const unseenWaits: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema.alterTable('threads').addColumn('unseen_since', 'bigint').execute();
    await db.schema
      .createIndex('threads_unseen')
      .on('threads')
      .column('unseen_since')
      .where(sql<boolean>`unseen_since IS NOT NULL`)
      .execute();
  },
};
