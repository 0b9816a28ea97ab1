/**
 * 0031: messages are found by the step of their execution: an execution may be as long as a thread. The index serves what the one before it
 * did, which goes.
 */
import type { Kysely, Migration } from 'kysely';
import type { Tables } from './tables.ts';

export const messagesByStep: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema
      .createIndex('messages_by_step')
      .on('messages')
      .columns(['thread_id', 'execution_id', 'step'])
      .execute();
    await db.schema.dropIndex('messages_by_execution').execute();
  },
};
