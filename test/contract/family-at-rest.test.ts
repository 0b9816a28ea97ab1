/** The file of a store holds no variable of a family in clear; and a store without keys can have families too. */
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openStore } from '../../src/store/open-store.ts';
import { TEST_KEYS } from './env-keys.ts';
import { create, newChild, openAgain, openParent, work } from './store/family-driver.ts';

const SECRET = 'swordfish-4711';

describe('a stored family', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(process.env.EVERTHREAD_TEST_FOLDER ?? tmpdir(), 'family-at-rest-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const bytesOf = (name: string) =>
    readdirSync(folder)
      .filter((file) => file.startsWith(name))
      .map((file) => readFileSync(join(folder, file), 'latin1'))
      .join('');

  it('[runtime 7.5] contains no variable in clear text, inherited, given or requested', async () => {
    const store = await openStore('sqlite:secret.db', folder, { keys: TEST_KEYS });
    const parent = await openParent(store, 2);
    await store.env.set({ owner: { thread: parent.id }, name: 'INHERITED', value: SECRET });
    const child = newChild();
    await create(parent, { child, given: [{ name: 'GIVEN', value: `${SECRET}-given` }] });
    const { id: requestId } = await store.variableRequests.save({
      id: 'request-1',
      parentId: parent.id,
      call: { step: 1, index: 1 },
      required: ['TOKEN'],
      missing: ['TOKEN'],
      scoped: ['TOKEN'],
      child: newChild(),
    });
    const given = [{ name: 'TOKEN', value: `${SECRET}-served` }];
    expect(await store.variableRequests.fulfil({ parentId: parent.id, requestId, given })).toMatchObject({
      kind: 'created',
    });
    expect(await store.env.read(child.threadId, null)).toHaveLength(2);
    await store.close();
    const bytes = bytesOf('secret.db');
    expect(bytes).toContain(child.threadId);
    expect(bytes).toContain('INHERITED');
    expect(bytes).not.toContain(SECRET);
  });

  it('needs no key while it has no variable', async () => {
    const store = await openStore('sqlite:plain.db', folder);
    const parent = await openParent(store);
    const child = newChild();
    expect(await create(parent, { child })).toMatchObject({ kind: 'created' });
    const opened = await openAgain(parent, child.threadId);
    expect(await store.reports.deliver(child.threadId, await work(opened))).toMatchObject({ by: 'message' });
    await store.close();
    // No key file was made either.
    expect(readdirSync(folder).filter((name) => !name.includes('.db'))).toEqual([]);
  });
});
