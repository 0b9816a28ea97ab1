/** Several real processes on one PostgreSQL database, new for each test. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openStore } from '../../src/store/open-store.ts';
import { isLong } from '../support/long-form.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { go, killProcesses, registerProcesses, type StorePlace, start } from './store-processes.ts';

let database: TestDatabase;
let place: StorePlace;

const placeAt = (address: string): StorePlace => ({
  address,
  folder: '',
  open: () => openStore(address, ''),
});

beforeEach(async () => {
  database = await createDatabase();
  place = placeAt(`${database.address}?schema=shared&pool=3`);
});

afterEach(async () => {
  killProcesses();
  await database.drop();
});

describe('several processes on one PostgreSQL database', () => {
  registerProcesses(() => place);

  it('open new stores in schemas of their own at the same time', async () => {
    const schemas = isLong ? ['one', 'two', 'three'] : ['one', 'two'];
    const started = await Promise.all(
      schemas.map((name) => start(placeAt(`${database.address}?schema=${name}`), [{ do: 'open' }])),
    );
    const answers = (await go(started.flat())) as { storeId: string }[];
    expect(new Set(answers.map(({ storeId }) => storeId)).size).toBe(schemas.length);
    for (const [n, name] of schemas.entries()) {
      const store = await openStore(`${database.address}?schema=${name}`, '');
      expect(store.id).toBe(answers[n]?.storeId);
      expect(await store.threads.list()).toHaveLength(1);
      await store.close();
    }
  });
});
