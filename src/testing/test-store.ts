/** A store that lasts as long as a test. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateKey, parseKeys } from '../store/crypto/encryption.ts';
import { openStore } from '../store/open-store.ts';
import type { ThreadStore } from '../store/port/thread-store.ts';

export interface TestPlace {
  readonly store: ThreadStore;
  /** Also the store's files. */
  remove(): Promise<void>;
}

/** A store in a temporary folder, whose variables are encrypted with a key of its own. */
export async function openTemporaryStore(): Promise<TestPlace> {
  const folder = mkdtempSync(join(tmpdir(), 'everthread-test-'));
  const removeFolder = () => rmSync(folder, { recursive: true, force: true });
  try {
    const keys = parseKeys(generateKey('test'), 'a test');
    const store = await openStore('sqlite:threads.db?synchronous=normal', folder, { keys });
    const remove = () => store.close().finally(removeFolder);
    return { store, remove };
  } catch (error) {
    removeFolder();
    throw error;
  }
}
