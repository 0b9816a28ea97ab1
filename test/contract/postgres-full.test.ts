/** A PostgreSQL whose disk is full (a tablespace on a small tmpfs): StoreFull, nothing lost, and it heals. */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openStore } from '../../src/store/open-store.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../support/embedded-postgres.ts';
import { ask } from '../support/postgres.ts';
import { canMount, type SmallDisk, smallDisk } from '../support/small-disk.ts';
import { ThreadDriver } from './thread-driver.ts';

const THREAD = 'full';
const onDisk = canMount() ? describe : describe.skip;

let disk: SmallDisk;
let server: EmbeddedPostgres;
let address: string;

onDisk('a PostgreSQL whose disk is full', () => {
  beforeAll(async () => {
    disk = smallDisk(24 * 1024, '777') as SmallDisk;
    server = await startEmbeddedPostgres({ fsync: 'off' });
    const place = join(disk.folder, 'space');
    mkdirSync(place);
    // If this process is root, PostgreSQL runs as another user.
    execFileSync('chmod', ['700', place]);
    if (process.getuid?.() === 0) execFileSync('chown', ['nobody', place]);
    await ask(server.address, `create tablespace small location '${place}'`);
    await ask(server.address, 'create database store tablespace small');
    const url = new URL(server.address);
    url.pathname = '/store';
    address = url.href;
  });
  afterAll(async () => {
    await server?.stop();
    disk?.close();
  });

  it('refuses with StoreFull, keeps acknowledged writes, and recovers once there is space', async () => {
    const store = await openStore(address, '');
    await new ThreadDriver(store, THREAD).open();
    const kept: string[] = [];
    disk.fill();
    let refusal: unknown;
    // Text that cannot be compressed, so that each value takes its full size on disk.
    for (let index = 0; refusal === undefined; index++) {
      const value = Array.from({ length: 4000 }, () => Math.random().toString(36).slice(2)).join('');
      try {
        await store.values.set(THREAD, `${index}`, value);
        kept.push(value);
      } catch (error) {
        refusal = error;
      }
    }
    expect(refusal).toMatchObject({ name: 'RuntimeError', code: 'StoreFull' });
    expect((refusal as Error).message).toMatch(
      /\(PostgreSQL .*\) is full: .*No space left on device.*Free space/,
    );
    for (const [index, value] of kept.entries())
      expect(await store.values.get(THREAD, `${index}`)).toBe(value);
    disk.free();
    await store.values.set(THREAD, 'after', 'room');
    expect(await store.values.get(THREAD, 'after')).toBe('room');
    await store.close();
  });
});
