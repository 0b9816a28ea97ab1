/**
 * A database of an earlier schema, with threads in many states (`upgrade/`). Migrated to this build's schema, it
 * answers as the build did that recorded it, and its threads go on.
 */
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Insertable, type Kysely, Migrator } from 'kysely';
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

interface Beside {
  readonly kysely_migration: { readonly name: string; readonly timestamp: string };
  readonly meta: Tables['meta'];
}

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

/** Addresses of new stores, by engine. */
const ADDRESSES = {
  SQLite: (_schema: string) =>
    `sqlite:${join(process.env.EVERTHREAD_TEST_FOLDER as string, `${randomUUID()}.db`)}`,
  PostgreSQL: (schema: string) => `${database.address}?schema=${schema}`,
};

describe.each(Object.keys(ADDRESSES) as (keyof typeof ADDRESSES)[])('on %s', (engine) => {
  it.each(RECORDED.map((each) => [each.migration, each] as const))(
    'threads of a database with schema %s continue after the migration',
    async (_migration, recorded) => {
      const schema = `from_${recorded.migration.slice(0, 4)}`;
      const address = ADDRESSES[engine](schema);
      await restore(address, recorded, engine === 'PostgreSQL' ? schema : undefined);
      const store = await openStore(address, '');
      closeAfterTest(() => store.close());
      const answers: Record<string, unknown> = {};
      for (const [life, standing] of Object.entries(recorded.threads))
        answers[life] = await askMidLife(store, standing);
      // A later build may return more fields.
      expect(answers).toMatchObject(recorded.answers);
      expect(Object.keys(answers)).toEqual(MID_LIFE);
    },
  );

  const REFUSED = [
    {
      of: 'a development version',
      change: (db: Kysely<Beside>) =>
        db.updateTable('meta').set({ value: 'another' }).where('key', '=', 'schema').execute(),
      says: /before 0\.1\.0 and cannot be read: delete .*temporal-\*\.db/,
    },
    {
      of: 'a development version that noted no schema',
      change: (db: Kysely<Beside>) => db.deleteFrom('meta').where('key', '=', 'schema').execute(),
      says: /before 0\.1\.0 and cannot be read: delete .*temporal-\*\.db/,
    },
    {
      of: 'a newer version',
      change: (db: Kysely<Beside>) =>
        db.insertInto('kysely_migration').values({ name: '0002_later', timestamp: 'now' }).execute(),
      says: /changed by a newer version of Everthread \(its migration "0002_later" .*run that version/,
    },
  ];

  it.each(REFUSED)(
    '[runtime 13.2.2] a store of $of is refused with what to do',
    async ({ of, change, says }) => {
      const address = ADDRESSES[engine](`refused_${of.replaceAll(' ', '_')}`);
      await (await openStore(address, '')).close();
      const db = openBeside(address) as unknown as Kysely<Beside>;
      await change(db);
      await db.destroy();
      await expect(openStore(address, '')).rejects.toMatchObject({
        code: 'InvalidConfiguration',
        message: expect.stringMatching(says),
      });
    },
  );
});
