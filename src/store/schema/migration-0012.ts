/** 0012: actions, which are calls that a policy has judged. Released; never edited. */
import type { Kysely, Migration } from 'kysely';
import type { Tables } from './tables.ts';

export const actions: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema
      .createTable('actions')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('thread_id', 'text', (c) => c.notNull())
      .addColumn('step', 'integer')
      .addColumn('idx', 'integer')
      .addColumn('execution_id', 'text')
      .addColumn('kind', 'text', (c) => c.notNull())
      .addColumn('name', 'text', (c) => c.notNull())
      .addColumn('call_id', 'text')
      .addColumn('fingerprint', 'text', (c) => c.notNull())
      .addColumn('prepared', 'text', (c) => c.notNull())
      .addColumn('decision', 'text', (c) => c.notNull())
      .addColumn('state', 'text', (c) => c.notNull())
      .addColumn('outcome', 'text')
      .addColumn('requested_at', 'bigint', (c) => c.notNull())
      .addColumn('started_at', 'bigint')
      .addColumn('ended_at', 'bigint')
      .execute();
    await db.schema
      .createIndex('actions_by_state')
      .on('actions')
      .columns(['thread_id', 'state', 'requested_at'])
      .execute();
    await db.schema
      .createIndex('actions_uncertain')
      .on('actions')
      .columns(['state', 'requested_at'])
      .execute();
    await db.schema
      .createIndex('waits_by_fingerprint')
      .on('waits')
      .columns(['fingerprint', 'state'])
      .execute();
  },
};
