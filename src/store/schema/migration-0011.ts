/**
 * 0011: run contexts: what a thread was started with, and what each execution runs with, found by run, session and
 * trace. Null if none was given. Released; never edited.
 */
import { type Kysely, type Migration, sql } from 'kysely';
import type { Tables } from './tables.ts';

export const runContexts: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema.alterTable('threads').addColumn('run_context', 'text').execute();
    for (const column of ['run_context', 'run_id', 'session_id', 'trace_id']) {
      await db.schema.alterTable('executions').addColumn(column, 'text').execute();
    }
    // Partial: an execution without a context has no entry in any of them.
    for (const name of ['run', 'session', 'trace']) {
      const column = sql.ref(`${name}_id`);
      await sql`CREATE INDEX ${sql.ref(`executions_by_${name}`)} ON executions (${column}, started_at)
        WHERE ${column} IS NOT NULL`.execute(db);
    }
  },
};
