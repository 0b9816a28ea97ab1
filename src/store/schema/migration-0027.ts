/**
 * 0027: which executions may still have streamed text in their threads' logs, which is removed some time after their
 * end. Early versions removed it with the next step, so only the newest execution of each thread may have any.
 */
import { type Kysely, type Migration, sql } from 'kysely';
import type { Tables } from './tables.ts';

export const keptChunks: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema
      .alterTable('executions')
      .addColumn('streams', 'integer', (column) => column.defaultTo(1))
      .execute();
    await sql`
      UPDATE executions SET streams = NULL
      WHERE started_at < (SELECT max(newest.started_at) FROM executions AS newest WHERE newest.thread_id = executions.thread_id)
    `.execute(db);
    await db.schema
      .createIndex('executions_streams')
      .on('executions')
      .columns(['ended_at'])
      .where(sql<boolean>`streams IS NOT NULL`)
      .execute();
  },
};
