/** 0045: ids of executions, whoever's they are: whoever attaches to one names no owner. */
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
