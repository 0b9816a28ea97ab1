/**
 * A step reads what its request needs, however long its thread is. Measured by the rows that PostgreSQL reads and by
 * the query plans of SQLite, for the statements that the activities of a step cause.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue, StatementSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openStore } from '../../src/store/open-store.ts';
import type { HistoryWindow } from '../../src/store/step/step-place-record.ts';
import type { ThreadStore } from '../../src/store/store.ts';
import type { StepRef } from '../../src/store/transaction/from-run.ts';
import { openBeside } from '../support/database-beside.ts';
import { isLong } from '../support/long-form.ts';
import { GROWING, lengthen } from '../support/long-thread.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { closeAfterTest, eventually } from '../support/runtime.ts';
import { call, message, openThread, ThreadDriver } from './thread-driver.ts';

/** Fifteen times the short thread; fifty times in the long form. A scan reads that many times as many rows. */
const LONG = isLong ? 20_000 : 6_000;
/** Smaller than the short thread, so that both histories are trimmed. */
const WINDOW: HistoryWindow = {
  includeChat: true,
  includePastTools: true,
  recentImages: 10,
  tokens: 1000,
  twoSides: true,
};
/** A window in which the older part of the history is summarised. */
const COMPACTED: HistoryWindow = { ...WINDOW, summaries: { prompt: 'main', scope: '' } };
const limits = () => ({ maxSteps: { a: 100 }, maxSessionTurns: 1_000_000 });

/** Makes a thread at rest with this many messages. */
async function makeThread(address: string, messages: number): Promise<string> {
  const store = await openStore(address, '');
  const thread = await openThread(store);
  const ref = await thread.beginCall([message('asked')]);
  await askModel(thread, ref);
  await thread.commit(ref, { toolCalls: [call('c', 'look')] });
  await thread.runTool(ref.step, 0);
  thread.afterStep = ref.step;
  await thread.answer([]);
  await thread.rest();
  await store.close();
  const db = openBeside(address);
  expect(await lengthen(db, thread.id, messages)).toBe(messages);
  await db.destroy();
  return thread.id;
}

/** Makes a thread with a summary of all but some twenty messages. `one`: all belong to one execution, which is open. */
async function makeCompacted(address: string, messages: number, one = false): Promise<string> {
  const id = await makeThread(address, messages);
  if (one) {
    const db = openBeside(address);
    await db.updateTable('messages').set({ execution_id: ONE }).where('thread_id', '=', id).execute();
    await db.destroy();
  }
  const store = await openStore(address, '');
  const thread = new ThreadDriver(store, id, `run-${randomUUID()}`);
  thread.executionId = ONE;
  const opened = await thread.open({ mustExist: true });
  thread.afterStep = opened.kind === 'open' ? opened.afterStep : 0;
  const ref = await thread.beginCall([message(randomUUID())]);
  const context = await store.steps.readContext(id, ref.step, () => COMPACTED);
  const last = context.messages.at(-21);
  if (!last) throw new Error('There is nothing to cover.');
  const summary = { until: last.created_at, messages: 1, text: 'all before', asked: null };
  const told = { messageId: last.id, count: 1, reason: 'messages', fallback: false } as const;
  const key = { prompt: 'main', scope: '' };
  const seen = context.thread.lastSeq;
  const kept = await store.steps.saveSummary({ ...ref, ...key, ...told, seen, summary });
  expect(kept.kind).toBe('kept');
  await thread.commit(ref);
  thread.afterStep = ref.step;
  if (!one) await thread.rest();
  await store.close();
  return id;
}

const ONE = 'one-execution';

/** Takes a step with a tool and a prompt, as its activities do. Returns how many messages its request leaves out. */
async function takeStep(store: ThreadStore, id: string, window = WINDOW, one = false): Promise<number> {
  const thread = new ThreadDriver(store, id, `run-${randomUUID()}`);
  const session = { side: 'a', turns: 0 } as const;
  const opened = await thread.open({ mustExist: true });
  if (opened.kind !== 'open') throw new Error('The thread is over.');
  thread.afterStep = one ? opened.thread.lastStep : opened.afterStep;
  thread.executionId = one ? ONE : `now-${randomUUID()}`;
  const items = [message(randomUUID())];
  const asked = { items, limits, twoSides: true, session };
  // What a client asks that waits for a message it has queued.
  await store.queue.countDrained(id, ['not-there']);
  await store.queue.readPending({ ...thread.from, ...asked, ordinal: 0, afterStep: thread.afterStep });
  const ref = await thread.beginCall(items, asked);
  const { trimmed } = await store.steps.readContext(id, ref.step, () => window);
  await store.events.append(id, {
    type: 'context.trimmed',
    data: { messages: trimmed },
    step: ref.step,
    once: true,
  });
  await askModel(thread, ref);
  await thread.commit(ref, { toolCalls: [call('c0', 'look'), call('c1', 'consult')] });
  await thread.beginTool(ref.step, 0);
  await store.messages.recent(id);
  await thread.commitTool(ref.step, 0);
  await askPrompt(thread, { step: ref.step, index: 1 }, window);
  thread.afterStep = ref.step;
  await store.reports.readLastStep(id);
  await thread.rest();
  return trimmed;
}

async function askModel({ store }: ThreadDriver, ref: StepRef): Promise<void> {
  await store.modelCalls.start({ ...ref, call: 1, model: 'm', modelId: 'm-1' });
  await store.modelCalls.appendChunk({ ...ref, call: 1, delta: 'an ' });
  await store.modelCalls.end({ ...ref, call: 1, ok: true, firstTokenAt: 1 });
}

async function askPrompt(
  thread: ThreadDriver,
  place: { step: number; index: number },
  window: HistoryWindow,
): Promise<void> {
  const { store, id } = thread;
  await thread.beginTool(place.step, place.index, 'prompt', true);
  const asked = { prompt: 'consult', arguments: {}, parentId: randomUUID() };
  const opened = await store.subprompts.open({ ...thread.from, ...place, ...asked });
  if (opened.kind !== 'call') throw new Error(`The prompt should be asked, not ${opened.kind}.`);
  const ref = { ...thread.from, step: opened.step, attempt: opened.attempt };
  await store.steps.readContext(id, ref.step, () => window);
  await thread.commit(ref, { toolCalls: [call('i', 'look')] });
  await thread.runTool(ref.step, 0);
  await store.subprompts.read(id, place.step, place.index);
  await thread.commitTool(place.step, place.index, { attempt: 'prompt' });
}

describe('a step of a long thread on PostgreSQL', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createDatabase();
  });
  afterAll(() => database?.drop());

  /** Returns how many rows were read for a step. */
  async function countRows(id: string, window?: HistoryWindow, one = false): Promise<number> {
    const before = await readRows();
    const store = await openStore(database.address, '');
    await takeStep(store, id, window, one);
    await store.close();
    return (await readRows()) - before;
  }

  /** A server process counts what it has read when it ends, some time after its client has closed the connection. */
  async function untilCounted(): Promise<void> {
    await eventually('the connections have ended', async () => {
      const [row] = await database.query(
        `select count(*) as others from pg_stat_activity
         where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`,
      );
      return Number(row?.others) === 0;
    });
  }

  async function readRows(): Promise<number> {
    await untilCounted();
    const tables = GROWING.map((name) => `'${name}'`).join(', ');
    const [row] = await database.query(
      `select (select sum(seq_tup_read) from pg_stat_user_tables where relname in (${tables}))
         + (select sum(idx_tup_read) from pg_stat_user_indexes where relname in (${tables})) as rows`,
    );
    return Number(row?.rows);
  }

  /** Vacuums, as the server does after such growth. Before that, a varying number of changed rows is read twice. */
  async function settle(): Promise<void> {
    await database.query('vacuum analyze');
  }

  it('reads as many rows as a step of a short one', async () => {
    const [short, long] = [await makeThread(database.address, 400), await makeThread(database.address, LONG)];
    await settle();
    const rows = await countRows(short);
    expect(rows).toBeGreaterThan(0);
    expect(await countRows(long)).toBeLessThan(rows * 1.1);
  });

  it('reads as many rows after a summary', async () => {
    const short = await makeCompacted(database.address, 400);
    const long = await makeCompacted(database.address, LONG);
    await settle();
    const rows = await countRows(short, COMPACTED);
    expect(rows).toBeGreaterThan(0);
    expect(await countRows(long, COMPACTED)).toBeLessThan(rows * 1.1);
  });

  it('reads as many rows after a summary of one long execution', async () => {
    const short = await makeCompacted(database.address, 400, true);
    const long = await makeCompacted(database.address, LONG, true);
    await settle();
    const rows = await countRows(short, COMPACTED, true);
    expect(rows).toBeGreaterThan(0);
    expect(await countRows(long, COMPACTED, true)).toBeLessThan(rows * 1.1);
  });
});

describe('a step of a long thread on SQLite', () => {
  const address = `sqlite:${join(process.env.EVERTHREAD_TEST_FOLDER as string, `${randomUUID()}.db`)}`;

  type Method = (this: StatementSync, ...values: SQLInputValue[]) => unknown;

  interface Asked {
    readonly sql: string;
    readonly values: readonly SQLInputValue[];
    readonly rows: number;
  }

  /** Returns the statements that reach the engine while `work` runs. */
  async function record(work: () => Promise<unknown>): Promise<Asked[]> {
    const asked: Asked[] = [];
    const prototype = StatementSync.prototype as unknown as Record<'all' | 'run', Method>;
    const { all, run } = prototype;
    const note = (sql: string, values: readonly unknown[], rows: number) =>
      asked.push({ sql, values: values as SQLInputValue[], rows });
    Object.assign(prototype, {
      all(this: StatementSync, ...values: SQLInputValue[]) {
        const rows = all.apply(this, values) as unknown[];
        note(this.sourceSQL, values, rows.length);
        return rows;
      },
      run(this: StatementSync, ...values: SQLInputValue[]) {
        note(this.sourceSQL, values, 0);
        return run.apply(this, values);
      },
    });
    try {
      await work();
    } finally {
      Object.assign(prototype, { all, run });
    }
    return asked;
  }

  /** Returns the lines of a statement's plan that go through a whole thread, or more. */
  function findWalks(database: DatabaseSync, { sql, values }: Asked): string[] {
    const plan = database
      .prepare(`explain query plan ${sql}`)
      .all(...values)
      .map(({ detail }) => String(detail));
    const ends = /\blimit\b/i.test(sql) && !plan.some((line) => line.includes('TEMP B-TREE FOR ORDER BY'));
    return plan.filter((line) => {
      const [, way, table = '', bounds = ''] = /^(SCAN|SEARCH) (\w+)(?:.*\((.*)\))?/.exec(line) ?? [];
      if (way === 'SCAN') return table !== 'CONSTANT';
      return way === 'SEARCH' && !ends && !isNarrow(bounds, values);
    });
  }

  /** The states of most rows of a thread: a search by one of them reads most of the thread. */
  const USUAL: ReadonlySet<unknown> = new Set(['committed', 'done', 'drained', 'ok']);

  function isNarrow(bounds: string, values: readonly unknown[]): boolean {
    const others = bounds.split(' AND ').filter((bound) => !/^thread_id=|<\?$/.test(bound));
    if (others.every((bound) => bound === 'state=?'))
      return others.length > 0 && !values.some((each) => USUAL.has(each));
    return true;
  }

  it('uses indexes, and reads as many rows as a step of a short one', async () => {
    const [short, long] = [await makeThread(address, 400), await makeThread(address, LONG)];
    const store = await openStore(address, '');
    closeAfterTest(() => store.close());
    const inShort = await record(() => takeStep(store, short));
    const inLong = await record(() => takeStep(store, long));
    const rowsOf = (asked: readonly Asked[]) => asked.reduce((sum, { rows }) => sum + rows, 0);
    expect(rowsOf(inLong)).toBe(rowsOf(inShort));
    const database = new DatabaseSync(address.slice('sqlite:'.length), { readOnly: true });
    closeAfterTest(async () => database.close());
    const statements = inLong.filter(({ sql }) => /^(select|update|delete)/i.test(sql));
    expect(statements.length).toBeGreaterThan(50);
    const walks = statements.map((asked) => ({ sql: asked.sql, walks: findWalks(database, asked) }));
    expect(walks.filter((each) => each.walks.length > 0)).toEqual([]);
  });

  it('uses indexes after a summary, also within one long execution', async () => {
    const [short, long] = [await makeCompacted(address, 400, true), await makeCompacted(address, LONG, true)];
    const store = await openStore(address, '');
    closeAfterTest(() => store.close());
    const inShort = await record(() => takeStep(store, short, COMPACTED, true));
    const inLong = await record(() => takeStep(store, long, COMPACTED, true));
    const rowsOf = (asked: readonly Asked[]) => asked.reduce((sum, { rows }) => sum + rows, 0);
    expect(rowsOf(inLong)).toBe(rowsOf(inShort));
    const database = new DatabaseSync(address.slice('sqlite:'.length), { readOnly: true });
    closeAfterTest(async () => database.close());
    const behind = inLong.filter(({ sql }) => sql.includes('coalesce(execution_id'));
    // Three reads: the thread's messages for the step and for its sub-prompt, and the sub-prompt's own messages.
    expect(behind).toHaveLength(3);
    for (const { sql, values } of behind) {
      const plan = database.prepare(`explain query plan ${sql}`).all(...values);
      expect(plan.map(({ detail }) => detail)).toEqual([
        'SEARCH messages USING INDEX messages_in_order (thread_id=? AND created_at>?)',
      ]);
    }
  });

  it('[runtime 12] finds author-set fields of logged calls by their executions', async () => {
    const id = await makeThread(address, 40);
    const store = await openStore(address, '');
    closeAfterTest(() => store.close());
    const asked = await record(() => store.events.getLogs(id));
    const database = new DatabaseSync(address.slice('sqlite:'.length), { readOnly: true });
    closeAfterTest(async () => database.close());
    const [kinds] = asked.filter(({ sql }) => sql.includes('"metadata" like'));
    expect(kinds && findWalks(database, kinds)).toEqual([]);
  });
});
