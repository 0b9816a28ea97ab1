/** The SQLite engine, on a real file. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../../src/store/open-store.ts';
import type { ThreadStore } from '../../src/store/port.ts';
import { TEST_KEYS } from './env-keys.ts';
import { registerStoreContract } from './store-contract.ts';

registerStoreContract('SQLite', {
  async open() {
    const folder = mkdtempSync(
      join(process.env.EVERTHREAD_TEST_FOLDER ?? tmpdir(), `contract-${randomUUID()}-`),
    );
    const handles = new Set<ThreadStore>();
    const second = async (keys = TEST_KEYS) => {
      const handle = await openStore('sqlite:store.db?synchronous=normal', folder, { keys });
      handles.add(handle);
      return handle;
    };
    const store = await second();
    return {
      store,
      second,
      async reopen() {
        handles.delete(store);
        await store.close();
        return second();
      },
      async close() {
        for (const handle of handles) await handle.close();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
});
