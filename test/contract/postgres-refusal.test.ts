/** Errors for a PostgreSQL address or server that cannot be used: problem, place and remedy, and no password. */
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openStore } from '../../src/store/open-store.ts';
import { findFreePorts } from '../../src/temporal-service/free-port.ts';
import { ask, createDatabase, type TestDatabase } from '../support/postgres.ts';

const SECRET = 'geheim7';

let database: TestDatabase;
let freePort: number;

beforeAll(async () => {
  database = await createDatabase();
  [freePort] = (await findFreePorts(1)) as [number];
});
afterAll(() => database?.drop());

/** Returns the tests' address with one change. */
function changed(change: (url: URL) => void): string {
  const url = new URL(database.address);
  change(url);
  return url.href;
}

async function refusalOf(address: string): Promise<{ code: string; message: string }> {
  const error = await openStore(address, '').then(
    async (store) => {
      await store.close();
      throw new Error('It was opened.');
    },
    (caught) => caught,
  );
  expect(inspect(error, { depth: 8 })).not.toContain(SECRET);
  return error;
}

describe('an address', () => {
  it.each([
    `postgres://someone:ab/${SECRET}@127.0.0.1/db`,
    `postgres://someone:12#${SECRET}@127.0.0.1/db`,
    `postgres://someone:12?${SECRET}@127.0.0.1/db`,
    `postgres://someone:12/${SECRET}@127.0.0.1/db`,
    `postgres://someone:%E4${SECRET}@127.0.0.1/db`,
  ])('with a password that is not encoded is refused (%#)', async (address) => {
    expect(await refusalOf(address)).toMatchObject({
      code: 'InvalidConfiguration',
      message: expect.stringContaining('percent-encoded'),
    });
  });

  it.each([
    ['with a mistyped parameter', '?shema=mine', 'unknown parameter "shema"; known parameters: schema, pool'],
    ['with a schema that needs quotes', '?schema=Mine', 'schema "Mine"'],
    ["with one of PostgreSQL's own schemas", '?schema=pg_toast', 'schema "pg_toast"'],
    ['with a pool of no size', '?pool=0', '"pool"'],
  ])('%s is refused', async (_name, rest, words) => {
    const refusal = await refusalOf(`postgres://someone:${SECRET}@127.0.0.1/db${rest}`);
    expect(refusal).toMatchObject({ name: 'RuntimeError', code: 'InvalidConfiguration' });
    expect(refusal.message).toContain(words);
    expect(refusal.message).toContain('postgres://user:password@host:5432/database');
  });

  it('of an unknown kind is not printed if it may hold a password', async () => {
    const refusal = await refusalOf(`postgress://someone:${SECRET}@host/db`);
    expect(refusal).toMatchObject({ code: 'InvalidConfiguration' });
    expect(refusal.message).toContain('"postgress:…"');
    expect((await refusalOf('mysql:there')).message).toContain('"mysql:there"');
  });
});

describe('a server', () => {
  it.each<[string, (url: URL) => void, string, RegExp]>([
    [
      'that does not listen',
      (url) => {
        url.port = String(freePort);
      },
      'StoreUnavailable',
      /does not answer: .*ECONNREFUSED/,
    ],
    [
      'that is unknown',
      (url) => {
        url.hostname = 'nowhere.invalid';
      },
      'StoreUnavailable',
      /\(PostgreSQL at \S+@nowhere\.invalid.*\) does not answer/,
    ],
    [
      'that refuses the password',
      (url) => {
        url.password = SECRET;
      },
      'InvalidConfiguration',
      /password authentication failed.*Check user and password/,
    ],
    [
      'that does not know the user',
      (url) => {
        url.username = 'stranger';
        url.password = SECRET;
      },
      'InvalidConfiguration',
      /at stranger@.*Check user and password/,
    ],
    [
      'that gets no password',
      (url) => {
        url.password = '';
      },
      'InvalidConfiguration',
      /Write the password/,
    ],
    [
      'without the database',
      (url) => {
        url.pathname = '/not_made';
      },
      'InvalidConfiguration',
      /"not_made" does not exist.*createdb/,
    ],
    [
      'without TLS, where it must be',
      (url) => url.searchParams.set('sslmode', 'verify-full'),
      'InvalidConfiguration',
      /does not support SSL.*sslmode=disable/,
    ],
    [
      'whose certificate should be checked against a file that is not there',
      (url) => {
        url.searchParams.set('sslmode', 'verify-full');
        url.searchParams.set('sslrootcert', '/not/there.pem');
      },
      'InvalidConfiguration',
      /not\/there\.pem/,
    ],
  ])('%s is reported as such', async (_name, change, code, words) => {
    const refusal = await refusalOf(changed(change));
    expect(refusal).toMatchObject({ name: 'RuntimeError', code });
    expect(refusal.message).toMatch(words);
    expect(refusal.message).toMatch(/schema public/);
  });

  it('without the right to create the schema names that right', async () => {
    const role = `guest_${process.pid}`;
    await database.query(`create role ${role} login password '${SECRET}'`);
    try {
      const refusal = await refusalOf(
        changed((url) => {
          url.username = role;
          url.password = SECRET;
          url.searchParams.set('schema', 'fresh');
        }),
      );
      expect(refusal).toMatchObject({ code: 'InvalidConfiguration' });
      expect(refusal.message).toMatch(/permission denied.*right to create in schema fresh/);
    } finally {
      await database.query(`drop role ${role}`);
    }
  });

  it('whose database encoding cannot hold every character is refused', async () => {
    const latin = await createDatabase(`encoding 'LATIN1' locale 'C' template template0`);
    expect((await refusalOf(latin.address)).message).toMatch(/encoding LATIN1; the store needs UTF8/);
    await latin.drop();
  });
});

describe('a database without a store', () => {
  it('is not created by a read-only open', async () => {
    await expect(openStore(database.address, '', { create: false })).rejects.toMatchObject({
      code: 'ThreadNotFound',
      message: expect.stringContaining('no threads yet'),
    });
    expect(await ask(database.address, `select * from pg_tables where schemaname = 'public'`)).toEqual([]);
    const store = await openStore(database.address, '');
    const again = await openStore(database.address, '', { create: false });
    expect(again.id).toBe(store.id);
    expect(again.place).toMatch(/^PostgreSQL \d+\.\d+ at \w+@.*, schema public$/);
    await Promise.all([store.close(), again.close()]);
  });
});
