/**
 * 0031: an index of messages by the step of their execution, since an execution may be as long as a thread; it replaces
 * the index by execution. An index of refused items, so that finding them does not read the whole log. Executions
 * record whether their end hooks have run.
 */
import { type Kysely, type Migration, sql } from 'kysely';
import type { Tables } from './tables.ts';

export const longTurns: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema
      .createIndex('messages_by_step')
      .on('messages')
      .columns(['thread_id', 'execution_id', 'step'])
      .execute();
    await db.schema.dropIndex('messages_by_execution').execute();
    await db.schema
      .createIndex('events_rejected')
      .on('events')
      .columns(['thread_id', 'type'])
      .where(sql<boolean>`type = 'item.rejected'`)
      .execute();
    await db.schema.alterTable('executions').addColumn('end_told', 'integer').execute();
  },
};
