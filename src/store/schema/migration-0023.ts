/**
 * 0023: for the detection of loops, of each call: the log's last number when it began, its signature, a digest of its
 * successful result, whether it was progress, and the loop that ended the execution. Of each thread: the warnings for
 * its next request, and the limit of its rounds with where they began.
 */
import type { Kysely, Migration } from 'kysely';
import type { Tables } from './tables.ts';

export const loops: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema.alterTable('tool_calls').addColumn('first_seq', 'bigint').execute();
    await db.schema.alterTable('tool_calls').addColumn('signature', 'text').execute();
    await db.schema.alterTable('tool_calls').addColumn('outcome', 'text').execute();
    await db.schema.alterTable('tool_calls').addColumn('progress', 'integer').execute();
    await db.schema.alterTable('tool_calls').addColumn('loop', 'text').execute();
    await db.schema
      .createIndex('tool_calls_outcome')
      .on('tool_calls')
      .columns(['thread_id', 'outcome'])
      .where('outcome', 'is not', null)
      .execute();
    await db.schema.alterTable('threads').addColumn('loop_warnings', 'text').execute();
    await db.schema.alterTable('threads').addColumn('rounds', 'text').execute();
  },
};
