/** The command with a store on PostgreSQL. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openStore } from '../../src/store/open-store.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { type CliProject, cliProject } from './support.ts';

let database: TestDatabase;
let project: CliProject;

beforeEach(async () => {
  database = await createDatabase();
  project = await cliProject();
});
afterEach(async () => {
  await project.remove();
  await database.drop();
});

const run = (args: string[], address = database.address) =>
  project.run(args, { env: { EVERTHREAD_STORE: address } });

async function storeCheck(address = database.address) {
  // Only the store is checked: without a server there is no step to measure.
  const env = { EVERTHREAD_STORE: address, TEMPORAL_ADDRESS: '127.0.0.1:1' };
  const { stdout, stderr } = await project.run(['doctor', '--json'], { env });
  const checks = JSON.parse(stdout).checks as { name: string; status: string; message: string }[];
  return { check: checks.find(({ name }) => name === 'store'), output: stdout + stderr };
}

describe('a store on PostgreSQL', () => {
  it('that does not exist is reported, and not created, by read commands', async () => {
    expect((await storeCheck()).check).toMatchObject({
      status: 'warn',
      message: expect.stringMatching(/^the store in PostgreSQL at .* does not exist yet$/),
    });
    expect(await run(['threads', 'list'])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('no threads yet'),
    });
    expect(await run(['threads', 'send', 'thread-1', 'hello'])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('no threads yet'),
    });
    expect(await database.query(`select * from pg_tables where schemaname = 'public'`)).toEqual([]);
  });

  it('is read and checked, and shown with its version and id', async () => {
    const store = await openStore(database.address, '');
    await store.close();
    const { check } = await storeCheck();
    expect(check).toMatchObject({
      status: 'ok',
      message: expect.stringContaining(`0 threads, id ${store.id}`),
    });
    expect(check?.message).toMatch(/^PostgreSQL \d+\.\d+ at \w+@.*, schema public/);
    expect(await run(['threads', 'list', '--json'])).toMatchObject({ code: 0 });
  });

  it('that refuses its password is reported without it', async () => {
    const url = new URL(database.address);
    url.password = 'geheim7';
    const { check, output } = await storeCheck(url.href);
    expect(check).toMatchObject({
      status: 'fail',
      message: expect.stringContaining('password authentication'),
    });
    expect(output).not.toContain('geheim7');
    const { code, stderr } = await run(['threads', 'list'], url.href);
    expect(code).toBe(2);
    expect(stderr).not.toContain('geheim7');
  });
});
