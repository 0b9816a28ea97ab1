/** 0015: ids that senders give to executions, and requests to cancel one. Released; never edited. */
import type { Kysely, Migration } from 'kysely';
import type { Tables } from './tables.ts';

export const namedExecutions: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema
      .createTable('execution_claims')
      .addColumn('owner', 'text', (c) => c.notNull())
      .addColumn('execution_id', 'text', (c) => c.notNull())
      .addColumn('thread_id', 'text', (c) => c.notNull())
      .addColumn('item_id', 'text', (c) => c.notNull())
      .addColumn('digest', 'text', (c) => c.notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('cancel_request', 'text')
      .addPrimaryKeyConstraint('execution_claims_key', ['owner', 'execution_id'])
      .execute();
    await db.schema.alterTable('executions').addColumn('cancel_request', 'text').execute();
  },
};
