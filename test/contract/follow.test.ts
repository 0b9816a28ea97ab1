/** Many readers of one log in one process: which statements they cause, and that each of them gets each row. */
import { randomUUID } from 'node:crypto';
import { StatementSync } from 'node:sqlite';
import { afterEach, describe, expect, it } from '@jest/globals';
import { followPages } from '../../src/client/follow-events.ts';
import { eventually } from '../support/eventually.ts';
import { openTestStore } from '../support/worker-pool.ts';
import { openThread, type ThreadDriver } from './thread-driver.ts';

const READERS = 200;
const { all } = StatementSync.prototype;
/** Statements run on any SQLite database of this process. */
const asked: string[] = [];
afterEach(() => {
  StatementSync.prototype.all = all;
});

function count(): void {
  asked.length = 0;
  StatementSync.prototype.all = function (this: StatementSync, ...values: never[]) {
    asked.push(this.sourceSQL);
    return all.apply(this, values as never);
  } as typeof all;
}

const isLook = (sql: string) => /^select "id", "event_seq" from "threads"/.test(sql);
const isRead = (sql: string) => /from "events"/.test(sql);

interface Reader {
  readonly seen: number[];
  caughtUp: number;
  readonly over: Promise<void>;
}

function follow({ store, id }: ThreadDriver, after = 0): Reader {
  const seen: number[] = [];
  const reader = { seen, caughtUp: 0, over: Promise.resolve() };
  reader.over = (async () => {
    for await (const page of followPages(store, id, { after, marks: true })) {
      seen.push(...page.map(({ seq }) => seq));
      if (page.length === 0) reader.caughtUp += 1;
    }
  })();
  return reader;
}

describe('readers of one log', () => {
  it(`${READERS} idle readers cause the queries of one; new rows are read once and reach each reader`, async () => {
    const store = await openTestStore();
    const thread = await openThread(store);
    const readers = Array.from({ length: READERS }, () => follow(thread));
    await eventually('all have caught up', () => readers.every(({ caughtUp }) => caughtUp === 1));
    count();
    await eventually('some looks', () => asked.filter(isLook).length > 5);
    expect(asked.filter((sql) => !isLook(sql))).toEqual([]);
    for (let n = 0; n < 3; n++) {
      asked.length = 0;
      await store.messages.inject(thread.id, {
        id: randomUUID(),
        role: 'system',
        content: 'x',
        executionId: null,
      });
      await eventually('all have read', () => readers.every(({ caughtUp }) => caughtUp === 2 + n));
      // One read for the rows, one for what follows them.
      expect(asked.filter(isRead).length).toBeLessThan(10);
    }
    await store.threads.terminate(thread.id);
    await Promise.all(readers.map(({ over }) => over));
    const rows = (await store.events.read(thread.id, 0)).map(({ seq }) => seq);
    for (const { seen } of readers) expect(seen).toEqual(rows);
    await store.close();
  });

  it('a reader that starts while another reads misses no row written meanwhile', async () => {
    const store = await openTestStore();
    const thread = await openThread(store);
    const readers: Reader[] = [];
    for (let n = 0; n < 60; n++) {
      readers.push(follow(thread));
      await store.messages.inject(thread.id, {
        id: randomUUID(),
        role: 'system',
        content: 'x',
        executionId: null,
      });
    }
    await store.threads.terminate(thread.id);
    await Promise.all(readers.map(({ over }) => over));
    const rows = (await store.events.read(thread.id, 0)).map(({ seq }) => seq);
    for (const { seen } of readers) expect(seen).toEqual(rows);
    await store.close();
  });
});
