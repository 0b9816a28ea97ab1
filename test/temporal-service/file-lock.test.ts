import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { withFileLock } from '../../src/temporal-service/file-lock.ts';
import { eventually } from '../support/eventually.ts';
import { makeFolder, removeFolders, runScript } from './support.ts';

afterEach(removeFolders);

test('[file-lock] work under one lock runs one after the other, also within a process', async () => {
  const lock = join(makeFolder(), 'a', 'lock');
  const events: string[] = [];
  const work = (name: string) =>
    withFileLock(
      lock,
      () => events.push(`${name} waits`),
      async () => {
        events.push(`${name} begins`);
        await eventually('the other waits', () => events.some((event) => event.endsWith('waits')));
        events.push(`${name} ends`);
      },
    );
  await Promise.all([work('a'), work('b')]);
  expect(events).toEqual(['a begins', 'b waits', 'a ends', 'b begins', 'b ends']);
});

test('[file-lock] a lock whose work failed is free', async () => {
  const lock = join(makeFolder(), 'lock');
  const failure = withFileLock(
    lock,
    () => {},
    () => Promise.reject(new Error('no')),
  );
  await expect(failure).rejects.toThrow('no');
  await expect(
    withFileLock(
      lock,
      () => {},
      async () => 'mine',
    ),
  ).resolves.toBe('mine');
});

test('[file-lock] a lock whose holder was killed is free', async () => {
  const lock = join(makeFolder(), 'lock');
  const holder = runScript(`
    import { withFileLock } from 'SOURCES/file-lock.ts';
    await withFileLock(${JSON.stringify(lock)}, () => {}, async () => {
      console.log('held');
      await new Promise((done) => setTimeout(done, 60_000));
    });
  `);
  await eventually('the other process holds it', () => holder.output().includes('held'));
  let waited = false;
  const mine = withFileLock(
    lock,
    () => {
      waited = true;
    },
    async () => 'mine',
  );
  await eventually('we wait', () => waited);
  holder.process.kill('SIGKILL');
  await expect(mine).resolves.toBe('mine');
});
