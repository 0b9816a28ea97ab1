/** The store contract on the PostgreSQL engine, with a real server; each store has its own schema. */
import { afterAll, beforeAll } from '@jest/globals';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { openForSuite } from './opened-store.ts';
import { registerStoreContract } from './store-contract.ts';

let database: TestDatabase;
let schemas = 0;

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database?.drop());

registerStoreContract('PostgreSQL', {
  async open() {
    // The first store is in the schema that an address without one means.
    const address = `${database.address}?pool=4${schemas++ === 0 ? '' : `&schema=store_${schemas}`}`;
    return openForSuite(address);
  },
});
