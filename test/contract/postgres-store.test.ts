/** The PostgreSQL engine, on a real server; each store in a schema of its own. */
import { afterAll, beforeAll } from '@jest/globals';
import { openStore } from '../../src/store/open-store.ts';
import type { ThreadStore } from '../../src/store/port.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { TEST_KEYS } from './env-keys.ts';
import { registerStoreContract } from './store-contract.ts';

let database: TestDatabase;
let schemas = 0;

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database?.drop());

registerStoreContract('PostgreSQL', {
  async open() {
    // The first one in the schema that an address means when it names none.
    const address = `${database.address}?pool=4${schemas++ === 0 ? '' : `&schema=store_${schemas}`}`;
    const handles = new Set<ThreadStore>();
    const second = async (keys = TEST_KEYS) => {
      const handle = await openStore(address, '', { keys });
      handles.add(handle);
      return handle;
    };
    const store = await second();
    return {
      store,
      second,
      async reopen() {
        handles.delete(store);
        await store.close();
        return second();
      },
      async close() {
        for (const handle of handles) await handle.close();
      },
    };
  },
});
