/**
 * 0045: an index of claimed execution ids without their owner, for clients that attach to an execution by its id alone.
 */
import type { Kysely, Migration } from 'kysely';
import type { Tables } from './tables.ts';

export const attachedExecutions: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema
      .createIndex('execution_claims_id')
      .on('execution_claims')
      .columns(['execution_id', 'created_at'])
      .execute();
  },
};
