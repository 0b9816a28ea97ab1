/** A worker that is not ready reports what it waits for, so that its terminal is not silent. */
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { ask, createDatabase } from '../support/postgres.ts';
import { type CliProject, cliProject, HELPER, seen } from './support.ts';

let project: CliProject;

beforeEach(async () => {
  project = await cliProject(HELPER);
});
afterEach(() => project.remove());

it('for a store locked by another process, and starts when it is free', async () => {
  mkdirSync(join(project.folder, 'data'));
  const other = new DatabaseSync(join(project.folder, 'data', 'store.db'));
  try {
    other.exec('begin exclusive');
    const worker = project.start(['worker', '--json']);
    await seen(worker, /The worker is starting, for \d+ s now: it is opening its store/, 120_000);
    other.exec('commit');
    await seen(worker, '"event":"ready"', 120_000);
  } finally {
    other.close();
  }
});

it('for a database migrated by another process, however long that takes', async () => {
  const database = await createDatabase();
  const env = { EVERTHREAD_STORE: database.address };
  try {
    // Creates the store first, so that there is a lock to hold.
    await project.run(['env', 'set', 'CITY', '--type', 'text'], {
      input: 'Paris',
      env: { ...env, EVERTHREAD_ENCRYPTION_KEYS: `k1:${'0'.repeat(64)}` },
    });
    const holds = ask(
      database.address,
      "set application_name = 'holder'; begin; lock table kysely_migration in access exclusive mode; select pg_sleep(3600)",
    ).catch((error: Error) => error.message);
    const worker = project.start(['worker', '--json'], env);
    await seen(worker, /The worker is starting, for \d+ s now: it is opening its store/, 120_000);
    await database.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'holder'",
    );
    expect(await holds).toContain('terminating connection');
    await seen(worker, '"event":"ready"', 120_000);
    worker.process.kill('SIGTERM');
    await worker.ended;
  } finally {
    await project.remove();
    await database.drop();
  }
});

it('for a Temporal server that accepts connections and does not respond', async () => {
  const silent = createServer(() => undefined);
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as { port: number };
  const worker = project.start(['worker', '--json'], { TEMPORAL_ADDRESS: `127.0.0.1:${port}` });
  try {
    await seen(worker, new RegExp(`it is connecting to the Temporal server at 127\\.0\\.0\\.1:${port}`));
  } finally {
    silent.close();
  }
});
