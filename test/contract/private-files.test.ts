/** Files of a project and its store are readable by their owner only, whatever the umask and their earlier mode. */
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ensureKeyFile } from '../../src/store/crypto/key-file.ts';
import { makeProjectFolder } from '../../src/store/folder/project-folder.ts';
import { openStore } from '../../src/store/open-store.ts';
import { writeDevFile } from '../../src/temporal-service/dev-file.ts';
import { withFileLock } from '../../src/temporal-service/file-lock.ts';
import { spawnOwned } from '../../src/temporal-service/owned-process.ts';
import { eventually } from '../support/eventually.ts';
import { ThreadDriver } from './thread-driver.ts';

let project: string;
let umask: number;

beforeEach(() => {
  project = join(process.env.EVERTHREAD_TEST_FOLDER as string, randomUUID());
  mkdirSync(project);
  umask = process.umask(0);
});
afterEach(() => {
  process.umask(umask);
});

const modeOf = (...path: string[]) => (statSync(join(project, ...path)).mode & 0o777).toString(8);

async function useStore(address: string): Promise<void> {
  const store = await openStore(address, project);
  await new ThreadDriver(store).open();
  expect(['', '-wal', '-shm'].map((suffix) => modeOf(`${address.slice('sqlite:'.length)}${suffix}`))).toEqual(
    ['600', '600', '600'],
  );
  await store.close();
}

describe('the folder .everthread', () => {
  it('is readable by its owner only, with all its files, even under a umask of 0', async () => {
    await useStore('sqlite:.everthread/store.db');
    ensureKeyFile(project);
    writeDevFile(project, { address: 'a', namespace: 'n', pid: 1 });
    await withFileLock(
      join(project, '.everthread', 'dev.lock'),
      () => {},
      async () => undefined,
    );
    const child = await spawnOwned(
      process.execPath,
      [
        '-e',
        "require('node:fs').writeFileSync(process.argv[1], '')",
        join(project, '.everthread', 'temporal.db'),
      ],
      join(project, '.everthread', 'temporal.log'),
    );
    await eventually('the end of the child', () => child.ended !== undefined);
    expect(modeOf('.everthread')).toBe('700');
    const files = ['store.db', 'encryption.key', 'dev.json', 'dev.lock', 'temporal.log', 'temporal.db'];
    expect(files.map((file) => `${file} ${modeOf('.everthread', file)}`)).toEqual(
      files.map((file) => `${file} 600`),
    );
    // The umask of this process is unchanged.
    expect(process.umask()).toBe(0);
  });

  it('is restricted if it was open, with all its files, and that is reported once', () => {
    const folder = join(project, '.everthread');
    mkdirSync(join(folder, 'deep'), { recursive: true });
    writeFileSync(join(folder, 'store.db'), '');
    writeFileSync(join(folder, 'deep', 'program'), '');
    chmodSync(join(folder, 'deep', 'program'), 0o755);
    const outside = join(project, 'outside');
    writeFileSync(outside, '');
    symlinkSync(outside, join(folder, 'link'));
    const said: string[] = [];
    makeProjectFolder(project, (line) => said.push(line));
    makeProjectFolder(project, (line) => said.push(line));
    expect(said).toEqual([expect.stringMatching(/\.everthread was accessible to other users .*\(4 paths\)/)]);
    expect([modeOf('.everthread'), modeOf('.everthread', 'deep'), modeOf('.everthread', 'store.db')]).toEqual(
      ['700', '700', '600'],
    );
    expect(modeOf('.everthread', 'deep', 'program')).toBe('700');
    expect(modeOf('outside')).toBe('666');
  });
});

describe('a store outside .everthread', () => {
  it('is a file readable by its owner only, in a folder whose mode is unchanged', async () => {
    mkdirSync(join(project, 'data'));
    await useStore('sqlite:data/store.db');
    expect(modeOf('data')).toBe('777');
  });

  it('is restricted if it was open', async () => {
    await useStore('sqlite:store.db');
    chmodSync(join(project, 'store.db'), 0o644);
    await useStore('sqlite:store.db');
  });
});
