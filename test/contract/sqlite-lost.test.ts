/** Files of an open store are removed, replaced, cut or overwritten: no write is acknowledged that would be lost. */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Kysely, sql } from 'kysely';
import { openStore } from '../../src/store/open-store.ts';
import { NodeSqliteDialect } from '../../src/store/sqlite/dialect.ts';
import type { ThreadStore } from '../../src/store/store.ts';
import { eventually } from '../support/eventually.ts';
import { ThreadDriver } from './thread-driver.ts';

const THREAD = 'lost';

let file: string;
const closers: (() => Promise<void>)[] = [];

beforeEach(() => {
  const folder = join(process.env.EVERTHREAD_TEST_FOLDER as string, randomUUID());
  mkdirSync(folder);
  file = join(folder, 'store.db');
});
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function open(): Promise<ThreadStore> {
  const store = await openStore(`sqlite:${file}`, '/nowhere');
  closers.push(() => store.close());
  return store;
}

/** A store with a thread, whose content is in the database file itself and not in its log. */
async function filledStore(): Promise<ThreadStore> {
  const store = await open();
  await new ThreadDriver(store, THREAD).open();
  for (let i = 0; i < 20; i++) await store.values.set(THREAD, `${i}`, 'x'.repeat(50_000));
  checkpoint();
  return store;
}

function checkpoint(): void {
  const database = new DatabaseSync(file);
  database.exec('pragma wal_checkpoint(truncate)');
  database.close();
}

/** Runs in a separate process: a process that opens and closes the file gives up its own locks on it. */
function overwrite(from: number, to: number): void {
  const program = `
    const fs = require('node:fs');
    const handle = fs.openSync(${JSON.stringify(file)}, 'r+');
    fs.writeSync(handle, Buffer.alloc(${to - from}, 'garbage!'), 0, ${to - from}, ${from});
  `;
  execFileSync(process.execPath, ['-e', program]);
}

const LOSSES: readonly (readonly [string, () => void])[] = [
  ['the file is removed', () => rmSync(file)],
  ['its log is removed', () => rmSync(`${file}-wal`)],
  ['its index is removed', () => rmSync(`${file}-shm`)],
  ['the folder is removed', () => rmSync(dirname(file), { recursive: true })],
  ['the folder is renamed', () => renameSync(dirname(file), `${dirname(file)}-elsewhere`)],
  [
    'another file takes its place',
    () => {
      writeFileSync(`${file}.new`, '');
      renameSync(`${file}.new`, file);
    },
  ],
  [
    'another store takes its place',
    () => {
      const other = new DatabaseSync(`${file}.new`);
      other.exec('create table t (a)');
      other.close();
      renameSync(`${file}.new`, file);
    },
  ],
];

const DAMAGES: readonly (readonly [string, () => void])[] = [
  ['the file is emptied', () => truncateSync(file, 0)],
  ['the file is cut in half', () => truncateSync(file, Math.floor(statSync(file).size / 8192) * 4096)],
];

describe('an open store', () => {
  it.each(LOSSES)('answers StoreLost to every command after %s', async (_what, lose) => {
    const store = await filledStore();
    lose();
    await expect(store.values.set(THREAD, 'more', 1)).rejects.toMatchObject({ code: 'StoreLost' });
    await expect(store.values.get(THREAD, '1')).rejects.toMatchObject({ code: 'StoreLost' });
    expect(store.ended?.reason).toMatchObject({ code: 'StoreLost' });
  });

  it.each(DAMAGES)('answers StoreCorrupt to every command after %s', async (_what, damage) => {
    const store = await filledStore();
    damage();
    await expect(store.values.set(THREAD, 'more', 1)).rejects.toMatchObject({ code: 'StoreCorrupt' });
    await expect(store.threads.get(THREAD)).rejects.toMatchObject({ code: 'StoreCorrupt' });
    expect(store.ended?.reason).toMatchObject({ code: 'StoreCorrupt' });
  });

  it('answers StoreCorrupt once it reads overwritten pages, and to every later command', async () => {
    const store = await filledStore();
    overwrite(4096 * 4, Math.floor(statSync(file).size / 4096) * 4096);
    await expect(open().then((other) => other.values.get(THREAD, '3'))).rejects.toMatchObject({
      code: 'StoreCorrupt',
    });
    const all = await Promise.allSettled([
      ...Array.from({ length: 20 }, (_, i) => store.values.get(THREAD, `${i}`)),
      store.threads.list(),
    ]);
    expect(all.map((one) => (one as PromiseRejectedResult).reason?.code)).toContain('StoreCorrupt');
    await expect(store.values.set(THREAD, 'more', 1)).rejects.toMatchObject({ code: 'StoreCorrupt' });
  });

  it('detects the loss of its file without a command', async () => {
    const store = await filledStore();
    rmSync(file);
    await eventually('the end of the store', () => store.ended?.aborted);
    expect(store.ended?.reason).toMatchObject({ code: 'StoreLost' });
  });

  it('survives what an operator may do: vacuum, a moved WAL', async () => {
    const store = await filledStore();
    for (let i = 0; i < 20; i++) await store.values.set(THREAD, `${i}`, 'short');
    const before = statSync(file).size;
    const database = new DatabaseSync(file);
    database.exec('vacuum; pragma wal_checkpoint(truncate)');
    database.close();
    expect(statSync(file).size).toBeLessThan(before);
    await store.values.set(THREAD, 'more', 1);
    expect(await store.values.get(THREAD, '1')).toBe('short');
  });

  it('acknowledges no commit to a file that was removed', async () => {
    const dialect = new NodeSqliteDialect({ path: file });
    const db = new Kysely<unknown>({ dialect });
    closers.push(() => db.destroy());
    await sql`create table t (a)`.execute(db);
    const committed = db.transaction().execute(async (trx) => {
      await sql`insert into t values (1)`.execute(trx);
      rmSync(file);
    });
    await expect(committed).rejects.toMatchObject({ code: 'StoreLost' });
    const alone = sql`insert into t values (2)`.execute(db);
    await expect(alone).rejects.toMatchObject({ code: 'StoreLost' });
  });
});

describe('a file that is not a store', () => {
  it('is refused with StoreCorrupt, and left unchanged', async () => {
    writeFileSync(file, 'This is a letter, and no database at all. '.repeat(200));
    const { size } = statSync(file);
    await expect(open()).rejects.toMatchObject({ code: 'StoreCorrupt' });
    expect(statSync(file).size).toBe(size);
  });

  it('is refused with StoreCorrupt if it is a truncated store', async () => {
    await (await filledStore()).close();
    closers.splice(0);
    truncateSync(file, Math.floor(statSync(file).size / 8192) * 4096);
    await expect(open()).rejects.toMatchObject({ code: 'StoreCorrupt' });
  });
});
