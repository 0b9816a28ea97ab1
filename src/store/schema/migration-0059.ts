/** 0059: which attempt at a step was given up by a worker that shut down, and not lost with one; and what a census reads from (census.ts). */
import { type Kysely, type Migration, sql } from 'kysely';
import type { Tables } from './tables.ts';

export const handedOverSteps: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema.alterTable('steps').addColumn('handed_over', 'integer').execute();
    // An expression: over the column itself, lists of threads by status would take it, and sort all that they find.
    await sql`create index threads_by_status on threads ((status || ''), deleted_at)`.execute(db);
    // Its query has the condition as it stands here: with a bound parameter SQLite would not see that it serves.
    await db.schema
      .createIndex('items_waiting')
      .on('items')
      .column('created_at')
      .where(sql<boolean>`state = 'queued'`)
      .execute();
  },
};
