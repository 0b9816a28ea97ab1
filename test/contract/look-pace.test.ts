/** Polling of growing logs slows down while nothing happens (transaction/log-watch.ts, G5); waiters are woken nevertheless. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import { Kysely } from 'kysely';
import { openStore } from '../../src/store/open-store.ts';
import type { Tables } from '../../src/store/schema/tables.ts';
import { NodeSqliteDialect } from '../../src/store/sqlite/dialect.ts';
import type { ThreadStore } from '../../src/store/store.ts';
import { LogWatch } from '../../src/store/transaction/log-watch.ts';
import { openThread } from './thread-driver.ts';

let store: ThreadStore;
let db: Kysely<Tables>;
let looks = 0;

beforeAll(async () => {
  const folder = process.env.EVERTHREAD_TEST_FOLDER as string;
  const file = `${randomUUID()}.db`;
  store = await openStore(`sqlite:${file}?synchronous=normal`, folder);
  db = new Kysely<Tables>({
    dialect: new NodeSqliteDialect({ path: join(folder, file), synchronous: 'normal' }),
    log: () => {
      looks += 1;
    },
  });
});

afterAll(async () => {
  await db?.destroy();
  await store?.close();
});

const inject = (threadId: string) =>
  store.messages.inject(threadId, { id: randomUUID(), role: 'system', content: 'x', executionId: null });

const lookAgain = async () => {
  const before = looks;
  while (looks === before) await new Promise((resolve) => setImmediate(resolve));
};

it('a waiter is woken while polling is slow', async () => {
  const { id } = await openThread(store);
  const last = (await store.threads.get(id))?.lastSeq ?? 0;
  const watch = new LogWatch(db, { everyMs: 1, quietAfterMs: 0, quietEveryMs: 1 });
  const grows = watch.wait(id, last);
  await lookAgain();
  await inject(id);
  await grows;
  watch.close();
});

it('a new waiter does not wait for the next slow poll', async () => {
  const { id } = await openThread(store);
  const last = (await store.threads.get(id))?.lastSeq ?? 0;
  const watch = new LogWatch(db, { everyMs: 1, quietAfterMs: 0, quietEveryMs: 3_600_000 });
  const quiet = watch.wait(id, last);
  // This look finds nothing, and the next one is due in an hour.
  await lookAgain();
  await inject(id);
  await watch.wait(id, last);
  await quiet;
  watch.close();
});
