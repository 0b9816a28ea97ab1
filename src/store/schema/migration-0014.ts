/**
 * 0014: the index of runs, in the rows that begin and end executions: whose run it was, where the log tells of it, and how it ended. A
 * row costs three columns, and no index is kept for them.
 */
import { type Kysely, type Migration, sql } from 'kysely';
import type { Tables } from './tables.ts';

export const runs: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema.alterTable('executions').addColumn('agent', 'text').execute();
    await db.schema.alterTable('executions').addColumn('first_seq', 'bigint').execute();
    await db.schema.alterTable('executions').addColumn('ended_as', 'text').execute();
    // Where a handoff came between, it is the agent that the thread has now; where nobody gave a reason, the status was the reason.
    await sql`
      UPDATE executions SET
        agent = (SELECT threads.agent FROM threads WHERE threads.id = executions.thread_id),
        ended_as = CASE WHEN stop_reason IN ('stopped', 'failed', 'terminated') THEN stop_reason END
    `.execute(db);
  },
};
