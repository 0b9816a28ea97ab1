/** The schema of a new store, by the catalogue of each engine, is the one that is checked in. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { it } from '@jest/globals';
import { openStore } from '../../src/store/open-store.ts';
import { expectCheckedIn } from '../support/checked-in.ts';
import { createDatabase } from '../support/postgres.ts';
import { describePostgres, describeSqlite } from './catalogue.ts';

it('the schema of a new SQLite store equals the checked-in one (EVERTHREAD_WRITE=1 writes it)', async () => {
  const file = join(process.env.EVERTHREAD_TEST_FOLDER as string, `${randomUUID()}.db`);
  await (await openStore(`sqlite:${file}`, '')).close();
  expectCheckedIn('test/contract/schema/sqlite.txt', await describeSqlite(file));
});

it('the schema of a new PostgreSQL store equals the checked-in one (EVERTHREAD_WRITE=1 writes it)', async () => {
  const database = await createDatabase();
  try {
    await (await openStore(database.address, '')).close();
    expectCheckedIn('test/contract/schema/postgres.txt', await describePostgres(database));
  } finally {
    await database.drop();
  }
});
