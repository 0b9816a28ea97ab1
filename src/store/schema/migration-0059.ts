/** 0059: which attempt at a step was given up by a worker that shut down, and not lost with one; and what a census reads from (census.ts). */
import { type Kysely, type Migration, sql } from 'kysely';
import type { Tables } from './tables.ts';

export const handedOverSteps: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema.alterTable('steps').addColumn('handed_over', 'integer').execute();
    // Expressions, which the census alone asks for: with the columns themselves, lists of threads by status would take the one and sort all
    // that they find, and a step would look for its items among those of all threads.
    await sql`create index threads_by_status on threads ((status || ''), deleted_at)`.execute(db);
    // Its query has the condition as it stands here: with a bound parameter SQLite would not see that it serves.
    await sql`create index items_waiting on items (created_at) where (state || '') = 'queued'`.execute(db);
  },
};
