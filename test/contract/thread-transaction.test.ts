/** The end of a transaction on a thread: what comes after it is refused, and does not get lost. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Kysely } from 'kysely';
import { toThreadRow } from '../../src/store/commands/base/new-thread.ts';
import { ThreadTransaction } from '../../src/store/commands/base/thread-transaction.ts';
import { migrate } from '../../src/store/schema/migrations.ts';
import type { Tables } from '../../src/store/schema/tables.ts';
import { NodeSqliteDialect } from '../../src/store/sqlite/dialect.ts';

const NEW_THREAD = {
  threadId: 't',
  agent: 'a',
  userId: null,
  arguments: {},
  parentId: null,
  rootId: 't',
};

let db: Kysely<Tables>;

beforeEach(async () => {
  const path = join(process.env.EVERTHREAD_TEST_FOLDER as string, `${randomUUID()}.db`);
  db = new Kysely<Tables>({ dialect: new NodeSqliteDialect({ path, synchronous: 'normal' }) });
  await migrate(db);
  await db.insertInto('threads').values(toThreadRow(NEW_THREAD, 1)).execute();
});
afterEach(() => db.destroy());

/** A transaction that has written what it gathered, and is not committed yet. */
async function withFlushed(work: (thread: ThreadTransaction) => Promise<void>): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const row = await trx.selectFrom('threads').selectAll().executeTakeFirstOrThrow();
    const thread = new ThreadTransaction(trx, row, 2);
    thread.set({ name: 'before' });
    await thread.flush();
    await work(thread);
  });
}

const USES: readonly [string, (thread: ThreadTransaction) => unknown][] = [
  ['a change of the row', (thread) => thread.set({ name: 'after' })],
  ['an event', (thread) => thread.emit('thread.agent', { from: 'a', to: 'b' })],
  ['a time for a message', (thread) => thread.stamp()],
  ['a message', (thread) => thread.insertMessage({ id: 'm', role: 'user', content: 'late' })],
  ['another run', (thread) => thread.admit('run-2')],
  ['a statement', (thread) => thread.trx.deleteFrom('threads').execute()],
  ['a wish not to wait for the disk', (thread) => thread.relax()],
  ['a second flush', (thread) => thread.flush()],
];

describe('a transaction that was flushed', () => {
  it.each(USES)('refuses %s as TransactionFlushed, and what it wrote before stays', async (_name, use) => {
    await withFlushed(async (thread) => {
      await expect((async () => use(thread))()).rejects.toMatchObject({ name: 'TransactionFlushed' });
    });
    const [row, ...others] = await db.selectFrom('threads').select('name').execute();
    expect([row?.name, others]).toEqual(['before', []]);
    expect(await db.selectFrom('messages').selectAll().execute()).toEqual([]);
  });

  it('can still be read: whose it was, and what its row has become', async () => {
    await withFlushed(async (thread) => {
      expect([thread.threadId, thread.row.name, thread.relaxed]).toEqual(['t', 'before', false]);
    });
  });
});
