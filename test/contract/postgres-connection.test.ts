/** Connections that break, transactions that collide, and the settings of each session. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Client, types } from 'pg';
import { openStore } from '../../src/store/open-store.ts';
import type { ThreadStore } from '../../src/store/store.ts';
import { eventually } from '../support/eventually.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { call, isGapFree, message, openThread, type ThreadDriver } from './thread-driver.ts';

let database: TestDatabase;
let store: ThreadStore;
let thread: ThreadDriver;
/** Another client of the same database. */
let other: Client;

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database?.drop());

beforeEach(async () => {
  store = await openStore(`${database.address}?application_name=store`, '');
  thread = await openThread(store);
  other = new Client(database.address);
  await other.connect();
});
afterEach(async () => {
  await other.end();
  await store.close();
});

const ids = async () => (await thread.messages()).map(({ id }) => id);

describe('a connection closed by the server', () => {
  it('while idle causes no error', async () => {
    await Promise.all(Array.from({ length: 8 }, (_, n) => thread.stash(message(`m${n}`))));
    await other.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'store'`,
    );
    expect(await thread.stash(message('m8'))).toEqual({ waiting: 9 });
    expect(await ids()).toHaveLength(9);
  });

  it('during a command leads to a retry of the command, with one effect', async () => {
    await other.query('begin');
    await other.query('select * from threads where id = $1 for update', [thread.id]);
    const writing = thread.begin([message('a')]);
    for (let deaths = 0; deaths < 3; deaths++) {
      await eventually('the command waits for the row', async () => {
        // On a separate connection: within a transaction the view keeps showing its first result.
        const ended = await database.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
            where application_name = 'store' and wait_event_type = 'Lock'`,
        );
        return ended.length === 1;
      });
    }
    await other.query('commit');
    expect(await writing).toMatchObject({ kind: 'call', step: 1, attempt: 1 });
    expect(await ids()).toEqual(['a']);
    expect(isGapFree(await thread.events())).toBe(true);
  });
});

describe('a transaction that collides', () => {
  it('in a deadlock is retried', async () => {
    let messages = 0;
    for (let isOurs = true; isOurs; ) {
      messages += 1;
      await other.query('begin');
      await other.query('lock table events in exclusive mode');
      const writing = thread.stash(message(`m${messages}`));
      await eventually('the command waits for the table', async () => {
        const waiting = await database.query(
          `select 1 from pg_stat_activity where application_name = 'store' and wait_event_type = 'Lock'`,
        );
        return waiting.length === 1;
      });
      // A session checks for deadlocks once, after waiting for a second, and is the one that is ended. The command has
      // waited longer; if it checked too early, on a busy machine, this query is ended instead, and the loop repeats.
      isOurs = await other
        .query('update threads set updated_at = updated_at where id = $1', [thread.id])
        .then(() => false)
        .catch(({ code }) => {
          expect(code).toBe('40P01');
          return true;
        });
      await other.query(isOurs ? 'rollback' : 'commit');
      expect(await writing).toEqual({ waiting: messages });
    }
    expect(await ids()).toHaveLength(messages);
  });

  it.each([
    ['that passes', 5, 5],
    ['that does not, a bounded number of times', 1_000, 8],
  ])('in a serialization failure %s, is retried', async (_name, failures, attempts) => {
    const mend = await failWrites('items', '40001', failures);
    const writing = thread.stash(message('a'));
    if (failures > attempts) await expect(writing).rejects.toMatchObject({ code: '40001' });
    else expect(await writing).toEqual({ waiting: 1 });
    const { rows } = await other.query('select last_value from tries');
    expect(Number(rows[0].last_value)).toBe(failures > attempts ? attempts : attempts + 1);
    await mend();
  });
});

/** Makes the first `failures` inserts into the table fail with this code; returns what removes the trigger. */
async function failWrites(table: string, code: string, failures = 1_000): Promise<() => Promise<void>> {
  await other.query(`
    create sequence tries;
    create function fail() returns trigger language plpgsql as $$ begin
      if nextval('tries') <= ${failures} then raise exception 'refused by a trigger' using errcode = '${code}'; end if;
      return new;
    end $$;
    create trigger fail before insert on ${table} for each row execute function fail()`);
  return async () => {
    await other.query(`drop trigger fail on ${table}; drop function fail; drop sequence tries`);
  };
}

describe('a write whose result is not awaited', () => {
  it.each([
    ['by the commit, where it was the last', 'events'],
    ['by the next read', 'messages'],
  ])('fails with its own error, reported %s, and leaves no rows', async (_name, table) => {
    const before = await thread.events();
    const mend = await failWrites(table, 'EV001');
    await expect(thread.begin([message('a')])).rejects.toMatchObject({
      code: 'EV001',
      message: 'refused by a trigger',
    });
    await mend();
    expect(await ids()).toEqual([]);
    expect(await thread.events()).toEqual(before);
    expect(await thread.begin([message('a')])).toMatchObject({ kind: 'call', step: 1, attempt: 1 });
  });

  it('is retried with its command after a serialization failure', async () => {
    const mend = await failWrites('events', '40001', 2);
    expect(await thread.begin([message('a')])).toMatchObject({ kind: 'call', step: 1, attempt: 1 });
    await mend();
    expect(isGapFree(await thread.events())).toBe(true);
  });
});

describe('a database session', () => {
  it('works with a pool of one connection', async () => {
    const small = await openStore(`${database.address}?pool=1`, '');
    await Promise.all(
      Array.from({ length: 12 }, (_, n) => [
        small.queue.add(thread.id, message(`m${n}`)),
        small.messages.list(thread.id),
        small.messages.inject(thread.id, { id: `i${n}`, role: 'system', content: 'x', executionId: null }),
      ]).flat(),
    );
    await small.close();
    expect(await ids()).toHaveLength(24);
  });

  it('reads committed data whatever the database default, and leaves other sessions’ isolation alone', async () => {
    const { database: name } = other;
    await other.query(`alter database ${name} set default_transaction_isolation = 'serializable'`);
    const strict = await openStore(database.address, '');
    await Promise.all(Array.from({ length: 40 }, (_, n) => strict.queue.add(thread.id, message(`s${n}`))));
    await strict.close();
    await other.query(`alter database ${name} reset default_transaction_isolation`);
    expect(isGapFree(await thread.events())).toBe(true);
    expect(types.getTypeParser(20)('5')).toBe('5');
    expect((await other.query(`select 5::bigint as n`)).rows).toEqual([{ n: '5' }]);
  });

  it('waits for the disk only before an acknowledgement', async () => {
    // A deferred trigger sees the settings that hold at the moment of the commit.
    await other.query(`
      create table commits (at serial, waits text);
      create function note() returns trigger language plpgsql as $$ begin
        insert into commits (waits) values (current_setting('synchronous_commit'));
        return null;
      end $$;
      create constraint trigger note after insert or update on threads
        deferrable initially deferred for each row execute function note()`);
    const waits = async (): Promise<string> => {
      const { rows } = await other.query('select waits from commits order by at');
      await other.query('truncate commits');
      return rows.map((row) => row.waits).join(' ');
    };
    const said: Record<string, string> = {};
    await thread.open();
    await thread.stash(message('p'));
    said.stash = await waits();
    const ref = await thread.beginCall([message('a')]);
    said.begin = await waits();
    await store.modelCalls.start({ ...ref, call: 1, model: 'm', modelId: 'm-1' });
    await thread.chunk(ref, 'x');
    await store.modelCalls.end({ ...ref, call: 1, ok: true });
    said.stream = await waits();
    await thread.commit(ref, { toolCalls: [call('c0', 'once'), call('c1', 'idempotent')] });
    said.commit = await waits();
    await thread.beginTool(1, 0);
    said.beginOnce = await waits();
    await thread.beginTool(1, 1, 'attempt-1', true);
    said.beginIdempotent = await waits();
    await thread.commitTool(1, 0);
    await thread.rest();
    said.end = await waits();
    expect(said).toEqual({
      stash: 'on',
      begin: 'off',
      stream: 'off off off',
      commit: 'on',
      beginOnce: 'on',
      beginIdempotent: 'off',
      end: 'on on',
    });
    await other.query('drop trigger note on threads; drop function note; drop table commits');
  });
});
