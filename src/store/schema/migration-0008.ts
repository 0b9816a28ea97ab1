/**
 * 0008: the steps that count against limits, and which queued items come from a thread's own code. Released; never
 * edited.
 */
import { type Kysely, type Migration, sql } from 'kysely';
import type { Tables } from './tables.ts';

export const stepCounts: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema
      .alterTable('items')
      .addColumn('own', 'integer', (c) => c.notNull().defaultTo(0))
      .execute();
    await db.schema
      .alterTable('threads')
      .addColumn('counted_from', 'integer', (c) => c.notNull().defaultTo(1))
      .execute();
    // An execution that is under way counts from its first step.
    await sql`
      UPDATE threads SET counted_from = coalesce(
        (SELECT min(steps.step) FROM steps
          JOIN executions ON executions.thread_id = steps.thread_id AND executions.id = steps.execution_id
          WHERE steps.thread_id = threads.id AND executions.ended_at IS NULL),
        last_step + 1)
    `.execute(db);
  },
};
