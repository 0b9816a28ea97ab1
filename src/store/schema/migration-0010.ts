/** 0010: waits, and which calls and threads have them; ids that senders give to executions. Released; never edited. */
import type { Kysely, Migration } from 'kysely';
import type { Tables } from './tables.ts';

export const waits: Migration = {
  async up(db: Kysely<Tables>) {
    await createWaits(db);
    await createClaims(db);
    await db.schema
      .alterTable('tool_calls')
      .addColumn('waits', 'integer', (c) => c.notNull().defaultTo(0))
      .execute();
    await db.schema
      .alterTable('threads')
      .addColumn('open_waits', 'integer', (c) => c.notNull().defaultTo(0))
      .execute();
  },
};

async function createWaits(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('waits')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('thread_id', 'text', (c) => c.notNull())
    .addColumn('root_id', 'text', (c) => c.notNull())
    .addColumn('key', 'text', (c) => c.notNull())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('summary', 'text', (c) => c.notNull())
    .addColumn('data', 'text', (c) => c.notNull())
    .addColumn('fingerprint', 'text')
    .addColumn('execution_id', 'text')
    .addColumn('step', 'integer')
    .addColumn('idx', 'integer')
    .addColumn('tool_call_id', 'text')
    .addColumn('blocks', 'integer', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('answer', 'text')
    .addColumn('reason', 'text')
    .addColumn('opened_at', 'bigint', (c) => c.notNull())
    .addColumn('expires_at', 'bigint')
    .addColumn('ended_at', 'bigint')
    .addColumn('heard', 'integer', (c) => c.notNull())
    .execute();
  await db.schema.createIndex('waits_by_key').unique().on('waits').columns(['thread_id', 'key']).execute();
  await db.schema.createIndex('waits_by_root').on('waits').columns(['root_id', 'state']).execute();
  await db.schema.createIndex('waits_in_order').on('waits').columns(['state', 'opened_at']).execute();
  await db.schema.createIndex('waits_by_hearing').on('waits').columns(['heard', 'state']).execute();
}

async function createClaims(db: Kysely<Tables>): Promise<void> {
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
}
