/**
 * A PostgreSQL for a test file, and a separate database in it. `EVERTHREAD_TEST_POSTGRES=postgres://…` names a server
 * to use instead of the embedded one; it must require a password, and its user must be allowed to create databases and
 * roles.
 */
import { randomUUID } from 'node:crypto';
import { get } from 'node:http';
import { text } from 'node:stream/consumers';
import { Client } from 'pg';

export interface TestDatabase {
  /** Store address, as in `EVERTHREAD_STORE`. */
  readonly address: string;
  /** Runs SQL in the database, as its owner. */
  query(sql: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  /** Drops the database; also closes connections that are still open. */
  drop(): Promise<void>;
}

export async function createDatabase(options = ''): Promise<TestDatabase> {
  const server = await findServer();
  const name = `everthread_test_${randomUUID().replaceAll('-', '')}`;
  await ask(server, `create database ${name} ${options}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  const address = url.href;
  return {
    address,
    query: (sql, values) => ask(address, sql, values),
    drop: async () => {
      await ask(server, `drop database if exists ${name} with (force)`);
    },
  };
}

/** Runs one statement on a separate connection. */
export async function ask(
  address: string,
  sql: string,
  values?: unknown[],
): Promise<Record<string, unknown>[]> {
  const client = new Client(address);
  await client.connect();
  try {
    return (await client.query(sql, values)).rows;
  } finally {
    await client.end();
  }
}

async function findServer(): Promise<string> {
  if (process.env.EVERTHREAD_TEST_POSTGRES) return process.env.EVERTHREAD_TEST_POSTGRES;
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  get(process.env.EVERTHREAD_TEST_POSTGRES_STARTER as string, { agent: false }, async (response) => {
    const said = await text(response);
    if (response.statusCode === 200) return resolve(said);
    reject(new Error(`No PostgreSQL for tests: ${said}. EVERTHREAD_TEST_POSTGRES names one to use instead.`));
  }).on('error', reject);
  return promise;
}
