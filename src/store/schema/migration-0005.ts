/**
 * 0005: the two sides of a thread; children, their reports to their parents, and requests for variables. Released;
 * never edited.
 */
import type { Kysely, Migration } from 'kysely';
import type { Tables } from './tables.ts';

/** One statement each: SQLite adds one column at a time. */
const COLUMNS = [
  ['threads', 'name', 'text', undefined],
  ['threads', 'side', 'text', 'a'],
  ['threads', 'turns', 'integer', 0],
  ['threads', 'child_count', 'integer', 0],
  ['threads', 'activated', 'text', '[]'],
  ['steps', 'side', 'text', 'a'],
] as const;

export const family: Migration = {
  async up(db: Kysely<Tables>) {
    for (const [table, column, type, initial] of COLUMNS) {
      await db.schema
        .alterTable(table)
        .addColumn(column, type, (c) => (initial === undefined ? c : c.notNull().defaultTo(initial)))
        .execute();
    }
    await createChildren(db);
    await createReports(db);
    await createRequests(db);
  },
};

async function createChildren(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('children')
    .addColumn('parent_id', 'text', (c) => c.notNull())
    .addColumn('child_id', 'text', (c) => c.notNull())
    .addColumn('agent', 'text', (c) => c.notNull())
    .addColumn('name', 'text')
    .addColumn('title', 'text')
    .addColumn('description', 'text', (c) => c.notNull())
    .addColumn('resumable', 'integer', (c) => c.notNull())
    .addColumn('blocking', 'integer', (c) => c.notNull())
    .addColumn('explicit', 'integer', (c) => c.notNull())
    .addColumn('hears', 'text', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('made_step', 'integer')
    .addColumn('made_idx', 'integer')
    .addColumn('wait_step', 'integer')
    .addColumn('wait_idx', 'integer')
    .addColumn('told_step', 'integer')
    .addColumn('told_idx', 'integer')
    .addColumn('told_id', 'text')
    .addColumn('owes', 'integer', (c) => c.notNull())
    .addColumn('started', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('terminated_at', 'bigint')
    .addPrimaryKeyConstraint('children_key', ['parent_id', 'child_id'])
    .execute();
  await db.schema.createIndex('children_by_child').unique().on('children').columns(['child_id']).execute();
}

async function createReports(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('child_reports')
    .addColumn('child_id', 'text', (c) => c.notNull())
    .addColumn('id', 'text', (c) => c.notNull())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('content', 'text', (c) => c.notNull())
    .addColumn('attachments', 'text', (c) => c.notNull())
    .addColumn('delivered', 'text')
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('early', 'integer', (c) => c.notNull())
    .addColumn('call_step', 'integer')
    .addColumn('call_idx', 'integer')
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('delivered_at', 'bigint')
    .addPrimaryKeyConstraint('child_reports_key', ['child_id', 'id'])
    .execute();
}

async function createRequests(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('variable_requests')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('parent_id', 'text', (c) => c.notNull())
    .addColumn('agent', 'text', (c) => c.notNull())
    .addColumn('required', 'text', (c) => c.notNull())
    .addColumn('missing', 'text', (c) => c.notNull())
    .addColumn('child', 'text', (c) => c.notNull())
    .addColumn('step', 'integer', (c) => c.notNull())
    .addColumn('idx', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('child_id', 'text')
    .addColumn('completed_at', 'bigint')
    .execute();
  await db.schema
    .createIndex('variable_requests_by_call')
    .unique()
    .on('variable_requests')
    .columns(['parent_id', 'step', 'idx'])
    .execute();
}
