/**
 * A database of an earlier schema, with threads in many states (`upgrade/`). Migrated to this build's schema, it
 * answers as the build did that recorded it, and its threads go on.
 */
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Insertable, Migrator, sql } from 'kysely';
import { openStore } from '../../src/store/open-store.ts';
import { provider } from '../../src/store/schema/migrations.ts';
import type { Tables } from '../../src/store/schema/tables.ts';
import { openBeside } from '../support/database-beside.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { closeAfterTest } from '../support/runtime.ts';
import { askMidLife, MID_LIFE, type Standing } from './upgrade/mid-life.ts';

interface Recorded {
  /** The last migration of its schema. */
  readonly migration: string;
  readonly threads: Readonly<Record<string, Standing>>;
  readonly answers: Readonly<Record<string, unknown>>;
  readonly tables: Readonly<Record<string, readonly object[]>>;
}

const FOLDER = join(import.meta.dirname, 'upgrade');
const RECORDED = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.json'))
  .map((name) => JSON.parse(readFileSync(join(FOLDER, name), 'utf8')) as Recorded);

/** Restores the database as the earlier build left it. */
async function restore(address: string, { migration, tables }: Recorded, schema?: string): Promise<void> {
  const db = openBeside(address);
  const { error } = await new Migrator({ db, provider, migrationTableSchema: schema }).migrateTo(migration);
  if (error) throw error;
  for (const [table, rows] of Object.entries(tables)) {
    for (const row of rows) {
      await db
        .insertInto(table as keyof Tables)
        .values(row as Insertable<Tables[keyof Tables]>)
        .execute();
    }
  }
  await db.destroy();
}

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database?.drop());

/** Restores a recorded database on each engine; returns its address. */
const ENGINES = {
  async SQLite(recorded: Recorded, _name?: string): Promise<string> {
    const address = `sqlite:${join(process.env.EVERTHREAD_TEST_FOLDER as string, `${randomUUID()}.db`)}`;
    await restore(address, recorded);
    return address;
  },
  async PostgreSQL(recorded: Recorded, name = `from_${recorded.migration.slice(0, 4)}`): Promise<string> {
    const schema = name;
    const address = `${database.address}?schema=${schema}`;
    await restore(address, recorded, schema);
    return address;
  },
};

describe.each(Object.keys(ENGINES) as (keyof typeof ENGINES)[])('on %s', (engine) => {
  it.each(RECORDED.map((each) => [each.migration, each] as const))(
    'threads of a database of schema %s go on as they stood',
    async (_migration, recorded) => {
      const store = await openStore(await ENGINES[engine](recorded), '');
      closeAfterTest(() => store.close());
      const answers: Record<string, unknown> = {};
      for (const [life, standing] of Object.entries(recorded.threads))
        answers[life] = await askMidLife(store, standing);
      // A later build may return more fields.
      expect(answers).toMatchObject(recorded.answers);
      expect(Object.keys(answers)).toEqual(MID_LIFE);
    },
  );

  it('[PL-17] money of an early version is read in whole numbers, and no amount changes', async () => {
    const recorded = RECORDED.find(({ migration }) => migration.startsWith('0059')) as Recorded;
    const [thread] = Object.values(recorded.threads) as [Standing];
    const execution = { thread_id: thread.id, execution_id: 'paid' };
    const line = { ...execution, reserved: 0, warn_at: 0.8, warned: 0, running: null };
    const tables = {
      ...recorded.tables,
      budgets: [
        { ...line, name: 'maxCost', max: 20_000.1, used: 0.1 + 0.2, estimated: 0.1 },
        { ...line, name: 'maxRuntimeSeconds', max: 1e300, used: 1.5, estimated: 0 },
        { ...line, name: 'maxInputTokens', max: 9000, used: 12, estimated: 0 },
      ],
    };
    const address = await ENGINES[engine]({ ...recorded, tables }, 'money');
    await (await openStore(address, '')).close();
    const db = openBeside(address);
    const rows = await db
      .selectFrom('budgets')
      .select([
        'name',
        sql<string>`cast(max_units as text)`.as('max'),
        sql<string>`cast(used_units as text)`.as('used'),
      ])
      .orderBy('name')
      .execute();
    await db.destroy();
    expect(rows.map(({ name, max, used }) => `${name} ${used} of ${max}`)).toEqual([
      'maxCost 300000000000 of 20000100000000000',
      'maxInputTokens 12 of 9000',
      'maxRuntimeSeconds 1500000 of 9223372036854775807',
    ]);
  });

  it('[PL-09] an approval that an early version has for all threads of a user holds after the upgrade', async () => {
    const recorded = RECORDED.find(({ migration }) => migration.startsWith('0059')) as Recorded;
    const [{ id: threadId }] = Object.values(recorded.threads) as [Standing];
    const wait = { thread_id: threadId, root_id: threadId, kind: 'approval', name: 'write', summary: 's' };
    const given = { data: 'null', blocks: 0, state: 'answered', opened_at: 1, ended_at: 2, heard: 0 };
    const waits = [
      { id: 'always', fingerprint: 'f', answer: { approved: true, scope: 'always', by: 'Ada' } },
      { id: 'refused', fingerprint: 'g', answer: { approved: false, scope: 'always' } },
      { id: 'quoted', fingerprint: 'h', answer: { approved: true, reason: '"scope":"always"' } },
    ].map((row) => ({ ...wait, ...given, ...row, key: row.id, answer: JSON.stringify(row.answer) }));
    const tables = { ...recorded.tables, waits: [...(recorded.tables.waits ?? []), ...waits] };
    const address = await ENGINES[engine]({ ...recorded, tables }, 'grants');
    const store = await openStore(address, '');
    closeAfterTest(() => store.close());
    const db = openBeside(address);
    const rows = await db.selectFrom('grants').select(['wait_id', 'granted_by', 'fingerprint']).execute();
    await db.destroy();
    expect(rows).toEqual([{ wait_id: 'always', granted_by: 'Ada', fingerprint: 'f' }]);
    const asked = { threadId, executionId: null, fingerprint: 'f' };
    expect(await store.actions.findDecision(asked)).toMatchObject({ approved: true, by: 'Ada' });
  });

  it('a request for variables that an early version has left open is listed and answered as a wait', async () => {
    const [recorded] = RECORDED as [Recorded];
    const parent = recorded.tables.threads?.find(
      (row) => (row as { terminated_at: unknown }).terminated_at === null,
    ) as { id: string };
    const child = {
      ...{ threadId: 'child', agent: 'scout', name: null, instance: null, explicit: false, resumable: false },
      ...{ maxInstances: null, files: [], env: [] },
    };
    const request = {
      ...{ id: 'request', parent_id: parent.id, agent: 'scout', step: 900, idx: 0, created_at: 1 },
      ...{ required: '["KEY"]', missing: '["KEY"]', child: JSON.stringify({ child, scoped: [] }) },
    };
    const over = { ...request, id: 'over', idx: 1, completed_at: 2 };
    const tables = { ...recorded.tables, variable_requests: [request, over] };
    const store = await openStore(await ENGINES[engine]({ ...recorded, tables }, 'requests'), '');
    closeAfterTest(() => store.close());
    expect(await store.waits.list({ threadId: parent.id })).toMatchObject([
      {
        ...{ id: 'request', kind: 'variables', name: 'scout', blocks: false },
        ...{ summary: 'Variables of the subagent "scout": KEY', data: { missing: ['KEY'], types: {} } },
      },
    ]);
    const refused = await store.waits.answer({ id: 'request', answer: { approved: false } });
    expect(refused).toMatchObject({ outcome: 'taken' });
    expect(await store.waits.list({ threadId: parent.id })).toEqual([]);
    expect(await store.variableRequests.list(parent.id)).toEqual([]);
  });
});
