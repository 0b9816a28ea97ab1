/** Import this first: it puts the stores of a test file in PostgreSQL, each in its own database. */
import { afterAll } from '@jest/globals';
import { createDatabase, type TestDatabase } from './postgres.ts';
import { makeStoresAt } from './worker-pool.ts';

const made: TestDatabase[] = [];
makeStoresAt(async () => {
  const database = await createDatabase();
  made.push(database);
  return database.address;
});
// Runs after the clean-up of the worker pool, which closes the stores.
afterAll(async () => {
  for (const database of made) await database.drop();
});
