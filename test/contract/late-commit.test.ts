/**
 * The feed of changes on PostgreSQL, where commits become visible in any order: transactions that stay open while later
 * ones commit, 50 writers at once, and readers of two organisations, of which none may miss a change.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { openStore } from '../../src/store/open-store.ts';
import { postgresChanges } from '../../src/store/postgres/change-order.ts';
import type { ThreadStore } from '../../src/store/store.ts';
import type { ChangedThread } from '../../src/store/thread/thread-record.ts';
import { type CommandContext, inThread } from '../../src/store/transaction/context.ts';
import { openBeside } from '../support/database-beside.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { closeAfterTest } from '../support/runtime.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { message, ThreadDriver } from './thread-driver.ts';

const WRITERS = 50;
const CHANGES = 20;
const ORGANIZATIONS = ['acme', 'other'] as const;

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
  return () => database.drop();
});

async function opened(): Promise<ThreadStore> {
  const store = await openStore(`${database.address}?pool=4`, '');
  closeAfterTest(() => store.close());
  return store;
}

/** Changes of threads on a connection of its own, whose transaction stays open for as long as the caller likes. */
function slowWriter() {
  const db = openBeside(database.address);
  closeAfterTest(() => db.destroy());
  const context = {
    db,
    storeId: 'test',
    rowLocks: true,
    order: postgresChanges,
    now: () => Date.now() * 1000,
    watch: { hint: () => undefined },
    publisher: { publish: () => undefined },
  } as unknown as CommandContext;
  return (threadId: string, name: string, open: () => Promise<unknown>) =>
    inThread(context, threadId, async (thread) => {
      thread.set({ name });
      await open();
    });
}

/** A thread of the organisation: one in two is at work, and keeps its place in lists. */
async function threadOf(store: ThreadStore, organizationId: string, atWork: boolean): Promise<string> {
  const thread = new ThreadDriver(store);
  await thread.open({ context: { organizationId } });
  if (atWork) await thread.begin([message(randomUUID())]);
  return thread.id;
}

async function reader(store: ThreadStore, organizationId?: string) {
  const owner = organizationId === undefined ? {} : { organizationId };
  let { cursor } = await store.threads.changes(owner);
  const seen = new Map<string, ChangedThread>();
  return {
    seen,
    /** Reads a page; false if it was empty. */
    async read(limit = 7): Promise<boolean> {
      const page = await store.threads.changes({ ...owner, cursor, limit });
      cursor = page.cursor;
      for (const thread of page.threads) seen.set(thread.id, thread);
      return page.threads.length > 0;
    },
  };
}

describe('the feed of changes on PostgreSQL', () => {
  it.each([false, true])(
    'has a change that commits after later ones were read, at work: %s',
    async (atWork) => {
      const store = await opened();
      const [early, late] = [await threadOf(store, 'acme', atWork), await threadOf(store, 'acme', atWork)];
      const feed = await reader(store, 'acme');
      const [first, second] = [slowWriter(), slowWriter()];
      const [locked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const slow = first(early, 'slow', () => {
        locked.resolve();
        return gate.promise;
      });
      await locked.promise;
      for (let change = 1; change <= 3; change += 1) {
        await second(late, `quick ${change}`, async () => undefined);
        expect(await feed.read()).toBe(true);
        expect(feed.seen.get(late)).toMatchObject({ name: `quick ${change}` });
        // Nothing comes twice while the other transaction is open.
        expect(await feed.read()).toBe(false);
      }
      expect(feed.seen.has(early)).toBe(false);
      gate.resolve();
      await slow;
      expect(await feed.read()).toBe(true);
      expect(feed.seen.get(early)).toMatchObject({ name: 'slow' });
      expect(await feed.read()).toBe(false);
    },
  );

  it(`misses nothing that ${WRITERS} writers do, for readers of two organisations and of all`, async () => {
    const store = await opened();
    const random = seededRandom('late commits');
    const threads: { id: string; organizationId: string }[] = [];
    for (let at = 0; at < WRITERS; at += 1) {
      const organizationId = ORGANIZATIONS[at % 2] as string;
      threads.push({ id: await threadOf(store, organizationId, at % 4 < 2), organizationId });
    }
    const readers = [await reader(store), await reader(await opened(), 'acme'), await reader(store, 'other')];
    const write = async (at: number) => {
      const [change, own] = [slowWriter(), random.split(at)];
      for (let n = 1; n <= CHANGES; n += 1) {
        const { id = '' } = threads[own.chance(0.5) ? at : own.below(WRITERS)] ?? {};
        // Most are quick; some stay open while many others commit.
        await change(id, `change ${n} of writer ${at}`, () => delay(own.chance(0.1) ? 200 : own.below(5)));
      }
    };
    let writing = true;
    const written = Promise.all(threads.map((_, at) => write(at))).finally(() => {
      writing = false;
    });
    const follow = async ({ read }: (typeof readers)[number]) => {
      while (writing || (await read())) await read();
    };
    await Promise.all([written, ...readers.map(follow)]);
    for (const { id, organizationId } of threads) {
      const now = await store.threads.get(id);
      const [all, acme, other] = readers.map(({ seen }) => seen.get(id));
      expect(all).toEqual(now);
      expect([acme, other]).toEqual(organizationId === 'acme' ? [now, undefined] : [undefined, now]);
    }
  });
});
