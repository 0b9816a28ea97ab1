/** Encryption of variables: what it protects against, and how keys are configured and rotated. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { decrypt, encrypt, generateKey, parseKeys } from '../../src/store/crypto/encryption.ts';
import { ensureKeyFile, findKeys, keyFilePath } from '../../src/store/crypto/key-file.ts';
import { openStore } from '../../src/store/open-store.ts';
import { TEST_KEYS } from './env-keys.ts';

const SECRET = 'swordfish-4711';
const BINDING = { scope: 'thread', owner: 't1', name: 'A', type: 'secret' };
const HEX = 'ab'.repeat(32);

describe('an encrypted value', () => {
  it.each(['', 'a', SECRET, 'ü🐟\0\n', 'x'.repeat(65_536)])('decrypts to the original: %#', (value) => {
    expect(decrypt(TEST_KEYS, BINDING, encrypt(TEST_KEYS, BINDING, value))).toBe(value);
  });

  it('differs each time, so that equal values are not recognisable', () => {
    const many = Array.from({ length: 50 }, () => encrypt(TEST_KEYS, BINDING, SECRET).data);
    expect(new Set(many).size).toBe(50);
    expect(new Set(many.map((data) => data.slice(0, 16))).size).toBe(50);
  });

  it('does not decrypt when any bit was changed or a part is missing', () => {
    const { keyId, data } = encrypt(TEST_KEYS, BINDING, SECRET);
    const bytes = Buffer.from(data, 'base64');
    for (let bit = 0; bit < bytes.length * 8; bit += 3) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3] = (changed[bit >> 3] as number) ^ (1 << (bit & 7));
      expect(() => decrypt(TEST_KEYS, BINDING, { keyId, data: changed.toString('base64') })).toThrow(
        /"A" of thread "t1" cannot be decrypted/,
      );
    }
    for (const length of [0, 5, 12, 20, bytes.length - 1]) {
      const cut = bytes.subarray(0, length).toString('base64');
      expect(() => decrypt(TEST_KEYS, BINDING, { keyId, data: cut })).toThrow(/cannot be decrypted/);
    }
  });

  it.each([
    ['scope', 'user'],
    ['owner', 't2'],
    ['name', 'B'],
    ['type', 'text'],
  ])('does not decrypt elsewhere: another %s', (field, value) => {
    const sealed = encrypt(TEST_KEYS, BINDING, SECRET);
    expect(() => decrypt(TEST_KEYS, { ...BINDING, [field]: value }, sealed)).toThrow(/cannot be decrypted/);
  });

  it('cannot be moved between names whose concatenation is equal', () => {
    const sealed = encrypt(TEST_KEYS, { ...BINDING, owner: 'a"', name: '","b' }, SECRET);
    expect(() => decrypt(TEST_KEYS, { ...BINDING, owner: 'a"","', name: 'b' }, sealed)).toThrow();
  });

  it('names the missing key by its id', () => {
    const sealed = { ...encrypt(TEST_KEYS, BINDING, SECRET), keyId: 'lost' };
    expect(() => decrypt(TEST_KEYS, BINDING, sealed)).toThrow(
      /is encrypted with the key "lost", which is not among the known keys \("k1"\)/,
    );
  });
});

describe('keys', () => {
  it('encrypt with the first and decrypt with all', () => {
    const [old, young] = [generateKey('old'), generateKey('young')];
    const sealed = encrypt(parseKeys(old, 'X'), BINDING, SECRET);
    const both = parseKeys(` ${young} , ${old} `, 'X');
    expect(decrypt(both, BINDING, sealed)).toBe(SECRET);
    expect(encrypt(both, BINDING, SECRET).keyId).toBe('young');
  });

  it('are not shown when they are printed', () => {
    const keys = parseKeys(`k:${HEX}`, 'X');
    expect(inspect(keys, { depth: 9, showHidden: true }) + JSON.stringify([...keys.byId])).not.toContain(
      'abab',
    );
  });

  it.each([
    ['', 'entry 1'],
    [HEX, 'entry 1'],
    // Short enough to be taken for a key id.
    ['abab', 'entry 1'],
    [`k1:${HEX},`, 'entry 2'],
    [`k1:${HEX},${HEX}`, 'entry 2'],
    [`k 1:${HEX}`, 'entry 1'],
    [`k1:${HEX}:${HEX}`, 'entry 1'],
    [`k1:${HEX.slice(2)}`, 'key "k1"'],
    [`k1:${HEX.replace('a', 'g')}`, 'key "k1"'],
    [`k1:${HEX},k1:${HEX}`, 'id "k1"'],
  ])('that are malformed are refused without being shown: %#', (text, told) => {
    const refused = (() => {
      try {
        return parseKeys(text, 'EVERTHREAD_ENCRYPTION_KEYS');
      } catch (error) {
        return error as Error;
      }
    })() as Error;
    expect(refused).toMatchObject({ code: 'InvalidConfiguration' });
    expect(refused.message).toMatch(/^EVERTHREAD_ENCRYPTION_KEYS cannot be used/);
    expect(refused.message).toContain(told);
    expect(refused.message).not.toContain('abab');
  });
});

describe('keys of a project', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(process.env.EVERTHREAD_TEST_FOLDER ?? tmpdir(), 'keys-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('are created once, in a file readable by its owner only', () => {
    const path = ensureKeyFile(folder) as string;
    expect(path).toBe(keyFilePath(folder));
    if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600);
    const text = readFileSync(path, 'utf8');
    expect(ensureKeyFile(folder)).toBeUndefined();
    expect(readFileSync(path, 'utf8')).toBe(text);
    expect(readdirSync(join(folder, '.everthread'))).toEqual(['encryption.key']);
    expect(findKeys(undefined, folder)().active).toMatch(/^dev-/);
    expect(findKeys(TEST_KEYS, folder)()).toBe(TEST_KEYS);
  });

  it('are required when a variable is written, and not before', async () => {
    const store = await openStore('sqlite:store.db', folder);
    try {
      const owner = { thread: randomUUID() };
      expect(await store.env.read(owner.thread, null)).toEqual([]);
      expect(await store.env.list(owner)).toEqual([]);
      await expect(store.env.set({ owner, name: 'A', value: SECRET })).rejects.toMatchObject({
        code: 'InvalidConfiguration',
        message: expect.stringMatching(/EVERTHREAD_ENCRYPTION_KEYS.*everthread dev/),
      });
      expect(await store.env.list(owner)).toEqual([]);
      ensureKeyFile(folder);
      await store.env.set({ owner, name: 'A', value: SECRET });
      expect(await store.env.read(owner.thread, null)).toMatchObject([{ value: SECRET }]);
      writeFileSync(keyFilePath(folder), `${generateKey('next')}\n`);
      await expect(store.env.read(owner.thread, null)).rejects.toThrow(/encrypted with the key "dev-/);
    } finally {
      await store.close();
    }
  });
});

describe('the database file', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(process.env.EVERTHREAD_TEST_FOLDER ?? tmpdir(), 'rest-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  async function filled(): Promise<void> {
    const store = await openStore('sqlite:store.db', folder, { keys: TEST_KEYS });
    for (const [owner, name] of [
      ['a', 'A'],
      ['a', 'B'],
      ['b', 'A'],
    ] as const) {
      await store.env.set({
        owner: { thread: owner },
        name,
        value: `${SECRET}-${owner}${name}`,
        type: 'text',
      });
    }
    await store.close();
  }

  const read = async (thread: string) => {
    const store = await openStore('sqlite:store.db', folder, { keys: TEST_KEYS });
    try {
      return await store.env.read(thread, null);
    } finally {
      await store.close();
    }
  };

  function change(sql: string): void {
    const database = new DatabaseSync(join(folder, 'store.db'));
    database.exec(sql);
    database.close();
  }

  it('holds no value in clear text, text variables included', async () => {
    await filled();
    const bytes = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'latin1'));
    expect(bytes.join('')).toContain('env_values');
    expect(bytes.join('')).not.toContain('swordfish');
    expect(bytes.join('')).not.toContain(Buffer.from('swordfish').toString('base64').slice(0, 11));
  });

  it.each([
    ['swapped between names', "set value = (select value from env_values where owner = 'a' and name = 'B')"],
    ['swapped between owners', "set value = (select value from env_values where owner = 'b' and name = 'A')"],
    ['declared as another type', "set type = 'secret'"],
    ['given to a user', "set scope = 'instance', owner = ''"],
  ])('reveals rows that were %s', async (_what, assignment) => {
    await filled();
    expect(await read('a')).toHaveLength(2);
    change(`update env_values ${assignment} where owner = 'a' and name = 'A'`);
    await expect(read('a')).rejects.toMatchObject({
      code: 'InvalidConfiguration',
      message: expect.stringContaining('cannot be decrypted'),
    });
  });
});
