/**
 * 0014: the index of runs, in the rows of executions: the agent of a run, its first event in the log, and how it ended.
 * Only three columns are added, and no index.
 */
import { type Kysely, type Migration, sql } from 'kysely';
import type { Tables } from './tables.ts';

export const runs: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema.alterTable('executions').addColumn('agent', 'text').execute();
    await db.schema.alterTable('executions').addColumn('first_seq', 'bigint').execute();
    await db.schema.alterTable('executions').addColumn('ended_as', 'text').execute();
    // After a handoff this is the agent that the thread has now. If no reason was given, the status was stored as the
    // reason.
    await sql`
      UPDATE executions SET
        agent = (SELECT threads.agent FROM threads WHERE threads.id = executions.thread_id),
        ended_as = CASE WHEN stop_reason IN ('stopped', 'failed', 'terminated') THEN stop_reason END
    `.execute(db);
  },
};
