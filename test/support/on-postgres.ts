/** Imported first, it has the stores of a test file in PostgreSQL, each a database of its own. */
import { afterAll } from '@jest/globals';
import { createDatabase, type TestDatabase } from './postgres.ts';
import { makeStoresAt } from './worker-pool.ts';

const made: TestDatabase[] = [];
makeStoresAt(async () => {
  const database = await createDatabase();
  made.push(database);
  return database.address;
});
// Behind that of the pool, which closes the stores.
afterAll(async () => {
  for (const database of made) await database.drop();
});
