/** The store contract on the SQLite engine, with a real file. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openForSuite } from './opened-store.ts';
import { registerStoreContract } from './store-contract.ts';
import { requireTrueCounters } from './true-counters.ts';

registerStoreContract('SQLite', {
  async open() {
    const folder = mkdtempSync(
      join(process.env.EVERTHREAD_TEST_FOLDER ?? tmpdir(), `contract-${randomUUID()}-`),
    );
    const opened = await openForSuite('sqlite:store.db?synchronous=normal', folder);
    return {
      ...opened,
      async close() {
        await opened.close();
        requireTrueCounters(join(folder, 'store.db'));
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
});
