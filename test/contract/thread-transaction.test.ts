/** A transaction on a thread that was flushed: it refuses later writes, so that nothing is lost. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Kysely } from 'kysely';
import { migrate } from '../../src/store/schema/migrations.ts';
import type { Tables } from '../../src/store/schema/tables.ts';
import { NodeSqliteDialect } from '../../src/store/sqlite/dialect.ts';
import { toThreadRow } from '../../src/store/transaction/new-thread.ts';
import { ThreadTransaction } from '../../src/store/transaction/thread-transaction.ts';

const NEW_THREAD = {
  threadId: 't',
  agent: 'a',
  userId: null,
  arguments: {},
  parentId: null,
  rootId: 't',
};

const CHANGE = { number: 7, next: (before: number) => before + 1 };
let db: Kysely<Tables>;

beforeEach(async () => {
  const path = join(process.env.EVERTHREAD_TEST_FOLDER as string, `${randomUUID()}.db`);
  db = new Kysely<Tables>({ dialect: new NodeSqliteDialect({ path, synchronous: 'normal' }) });
  await migrate(db, { place: path, toDelete: path });
  await db.insertInto('threads').values(toThreadRow(NEW_THREAD, 1)).execute();
});
afterEach(() => db.destroy());

/** Runs `work` with a transaction that has flushed its changes and is not committed yet. */
async function withFlushed(work: (thread: ThreadTransaction) => Promise<void>): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const row = await trx.selectFrom('threads').selectAll().executeTakeFirstOrThrow();
    const thread = new ThreadTransaction(trx, row, 2, CHANGE);
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
  ['another run', (thread) => thread.admit({ runId: 'run-2' })],
  ['a statement', (thread) => thread.trx.deleteFrom('threads').execute()],
  ['a wish not to wait for the disk', (thread) => thread.relax()],
  ['a second flush', (thread) => thread.flush()],
];

describe('a flushed transaction', () => {
  it.each(USES)('refuses %s as TransactionFlushed, and keeps its earlier writes', async (_name, use) => {
    await withFlushed(async (thread) => {
      await expect((async () => use(thread))()).rejects.toMatchObject({ name: 'TransactionFlushed' });
    });
    const [row, ...others] = await db.selectFrom('threads').select('name').execute();
    expect([row?.name, others]).toEqual(['before', []]);
    expect(await db.selectFrom('messages').selectAll().execute()).toEqual([]);
  });

  it('can still be read: its thread and row', async () => {
    await withFlushed(async (thread) => {
      expect([thread.threadId, thread.row.name, thread.relaxed]).toEqual(['t', 'before', false]);
    });
  });
});

describe('the time of a thread’s last change in lists', () => {
  const SECOND = 1_000_000;
  const cases = [
    ['a thread at work keeps its place for a second', 'running', {}, SECOND - 1, 0],
    ['and is moved by what comes a second later', 'running', {}, SECOND, SECOND],
    ['its rest moves it at once', 'running', { status: 'idle' }, 5, 5],
    ['so does its beginning', 'idle', { status: 'running' }, 5, 5],
    ['a thread at rest is moved by each change', 'idle', { name: 'new' }, 5, 5],
    ['a clock that was set back moves it too', 'running', {}, -5, -5],
  ] as const;

  it.each(cases)('%s', async (_name, status, changes, later, moved) => {
    const created = 10 * SECOND;
    await db.updateTable('threads').set({ status, updated_at: created }).execute();
    await db.transaction().execute(async (trx) => {
      const row = await trx.selectFrom('threads').selectAll().executeTakeFirstOrThrow();
      const thread = new ThreadTransaction(trx, row, created + later, CHANGE);
      thread.set({ turns: 7, ...changes });
      expect(thread.written.updated_at).toBe(created + moved);
      await thread.flush();
    });
    const row = await db.selectFrom('threads').selectAll().executeTakeFirstOrThrow();
    expect([row.updated_at, row.turns]).toEqual([created + moved, 7]);
  });
});
