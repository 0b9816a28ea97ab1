/** A temporary store for one test. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateKey, parseKeys } from '../store/crypto/encryption.ts';
import { openStore } from '../store/open-store.ts';
import type { ThreadStore } from '../store/store.ts';

export interface TestPlace {
  readonly store: ThreadStore;
  /** Closes the store and removes its files. */
  remove(): Promise<void>;
}

/** Opens a store in a temporary folder; its variables are encrypted with a separate key. */
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
