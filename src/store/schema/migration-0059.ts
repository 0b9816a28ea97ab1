/**
 * 0059: which attempt at a step was given up by a worker that shut down, instead of lost with one; and the indexes that
 * a census reads (census.ts).
 */
import { type Kysely, type Migration, sql } from 'kysely';
import type { Tables } from './tables.ts';

export const handedOverSteps: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema.alterTable('steps').addColumn('handed_over', 'integer').execute();
    // The indexes are on expressions that only the census uses. On the columns themselves, lists of threads by status
    // would use the first one and then sort all that they find, and a step would search for its items among those of
    // all threads.
    await sql`create index threads_by_status on threads ((status || ''), deleted_at)`.execute(db);
    // The query must contain the condition literally: with a bound parameter SQLite would not see that the index can be
    // used.
    await sql`create index items_waiting on items (created_at) where (state || '') = 'queued'`.execute(db);
  },
};
