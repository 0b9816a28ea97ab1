/**
 * Every list of threads is read off an index. Checked by the plans that both engines make for the store's own
 * statements, over enough threads for a scan or a sort to show. And the deletion of a thread covers every table.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { CompiledQuery, type Kysely, sql } from 'kysely';
import { openStore } from '../../src/store/open-store.ts';
import type { Tables } from '../../src/store/schema/tables.ts';
import { listThreads } from '../../src/store/thread/list-threads.ts';
import { THREAD_TABLES } from '../../src/store/thread/remove-thread.ts';
import type { ListThreads } from '../../src/store/thread/thread-record.ts';
import type { CommandContext } from '../../src/store/transaction/context.ts';
import { openBeside } from '../support/database-beside.ts';
import { createDatabase } from '../support/postgres.ts';
import { closeAfterTest } from '../support/runtime.ts';
import { openThread } from './thread-driver.ts';

const THREADS = 20_000;
const before = {
  id: 'thread-7',
  createdAt: 10_000,
  updatedAt: 10_000,
  listed: { costUsd: 0.00001, tokens: 10_000 },
  waitingFor: { since: 10_000 },
};

const LISTS: readonly (readonly [index: string, options: ListThreads])[] = [
  ['threads_in_order', {}],
  ['threads_in_order', { before }],
  ['threads_in_order', { before, status: 'idle' }],
  ['threads_in_order', { updatedAfter: 500, updatedBefore: 15_000 }],
  ['threads_by_creation', { sort: 'created', before }],
  ['threads_by_cost', { sort: 'cost', before }],
  ['threads_by_tokens', { sort: 'tokens', before }],
  ['threads_waiting', { sort: 'waiting', before }],
  ['threads_of_agent', { agent: 'agent-3', before }],
  ['threads_of_user', { userId: 'user-4', before }],
  ['threads_of_organization', { organizationId: 'organization-4', before }],
  ['threads_of_parent', { parentId: 'thread-4', before }],
  ['threads_not_at_rest', { status: 'failed', before }],
  ['thread_tags_in_order', { tag: 'tag-3', before }],
];

/** Fills the table with copies of one thread. */
async function fill(db: Kysely<Tables>, threadId: string): Promise<void> {
  const tables = await db.introspection.getTables();
  const all = tables.find(({ name }) => name === 'threads')?.columns.map(({ name }) => name) ?? [];
  const given: Record<string, string> = {
    id: `'thread-' || i`,
    agent: `'agent-' || (i % 100)`,
    user_id: `CASE WHEN i % 2 = 0 THEN 'user-' || (i % 100) END`,
    organization_id: `CASE WHEN i % 2 = 0 THEN 'organization-' || (i % 100) END`,
    parent_id: `CASE WHEN i % 2 = 0 THEN 'thread-' || (i % 100) END`,
    status: `CASE WHEN i % 50 = 0 THEN 'failed' ELSE s.status END`,
    created_at: 'i',
    updated_at: 'i',
    listed_cost: 'i * 1000',
    listed_tokens: 'i',
    waiting_since: 'CASE WHEN i % 50 = 0 THEN i END',
  };
  const values = all.map((name) => sql.raw(given[name] ?? `s.${name}`));
  const numbers = sql`WITH RECURSIVE t(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM t WHERE i < ${sql.lit(THREADS)})`;
  await sql`
    ${numbers} INSERT INTO threads (${sql.join(all.map((name) => sql.ref(name)))})
    SELECT ${sql.join(values)} FROM threads AS s CROSS JOIN t WHERE s.id = ${threadId}
  `.execute(db);
  await sql`
    ${numbers} INSERT INTO thread_tags (thread_id, tag, created_at) SELECT 'thread-' || i, 'tag-' || (i % 100), i FROM t
  `.execute(db);
}

const SORTED = /TEMP B-TREE|Sort/;
const SCANNED = /Seq Scan on thread|SCAN threads(\n|$)/;

async function check(address: string, explain: string): Promise<void> {
  const store = await openStore(address, '');
  closeAfterTest(() => store.close());
  const thread = await openThread(store);
  const asked: CompiledQuery[] = [];
  const db = openBeside(address, '', ({ query }) => void asked.push(query));
  closeAfterTest(() => db.destroy());
  await fill(db, thread.id);
  if (explain === 'explain') await sql`analyze`.execute(db);
  for (const [index, options] of LISTS) {
    asked.length = 0;
    const found = await listThreads({ db } as unknown as CommandContext, { ...options, limit: 5 });
    const [query] = asked;
    const { rows } = await db.executeQuery<Record<string, unknown>>(
      CompiledQuery.raw(`${explain} ${query?.sql}`, [...(query?.parameters ?? [])]),
    );
    const plan = rows.map((row) => String(row.detail ?? row['QUERY PLAN'])).join('\n');
    const told = `${JSON.stringify(options)}: ${plan}`;
    expect(told).toContain(index);
    expect(told).not.toMatch(SCANNED);
    expect(told).not.toMatch(SORTED);
    expect([options, found.length]).toEqual([options, 5]);
  }
  await requireAllTables(db);
}

/** Checks that deletion knows every table with rows of threads: it would leave those of an unknown one. */
async function requireAllTables(db: Kysely<Tables>): Promise<void> {
  const tables = await db.introspection.getTables();
  const ofThreads = tables.filter(({ columns }) => columns.some(({ name }) => name === 'thread_id'));
  const known = Object.keys(THREAD_TABLES);
  expect(ofThreads.map(({ name }) => name).filter((name) => !known.includes(name))).toEqual([]);
}

describe('the list of threads', () => {
  it('is ordered by an index on SQLite, and a deletion covers every table', async () => {
    const file = join(process.env.EVERTHREAD_TEST_FOLDER as string, `${randomUUID()}.db`);
    await check(`sqlite:${file}?synchronous=normal`, 'explain query plan');
  });

  it('is ordered by an index on PostgreSQL, and a deletion covers every table', async () => {
    const database = await createDatabase();
    closeAfterTest(() => database.drop());
    await check(database.address, 'explain');
  });
});
