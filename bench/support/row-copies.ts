/**
 * Fills a store with threads and messages: copies of rows that the store wrote itself, with their own ids and times,
 * written by one statement past the store.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { ask } from '../../test/support/postgres.ts';

export interface RowCopies {
  /** Adds copies of a thread's row, numbered from `from` to `to`, each a microsecond older than the one before. */
  threads(threadId: string, from: number, to: number): Promise<void>;
  /** Adds copies of the first message of a thread, numbered from `from` to `to`, after its newest. */
  messages(threadId: string, from: number, to: number): Promise<void>;
  close(): Promise<void>;
}

/** Columns that differ between a row and its n-th copy: SQL of the row `r` and of `n`. */
type Changes = Readonly<Record<string, string>>;

const THREAD: Changes = {
  id: "r.id || '-' || n",
  created_at: 'r.created_at - n',
  updated_at: 'r.updated_at - n',
  // What lists filter, sort and count by: most threads are of one agent and at rest.
  agent: "case when n % 5 = 0 then 'agent-' || (n % 7) else r.agent end",
  user_id: "'user-' || (n % 1000)",
  organization_id: "'organization-' || (n % 20)",
  status: "case n % 100 when 1 then 'failed' when 2 then 'waiting' else r.status end",
  waiting_since: 'case n % 100 when 2 then r.created_at - n end',
  listed_cost: '1000 * (n % 5000)',
  listed_tokens: 'n % 7000',
};
/** One tag each. */
const TAG = { thread_id: THREAD.id, tag: "'tag-' || (n % 50)", created_at: THREAD.created_at };
const MESSAGE: Changes = {
  id: "'copy-' || n",
  created_at: '(select max(created_at) from messages m where m.thread_id = r.thread_id) + n',
};

type Run = (sql: string) => Promise<readonly Record<string, unknown>[]>;

/** `place`: the address of a PostgreSQL, or the folder that holds a `store.db`. */
export async function rowCopies(place: string): Promise<RowCopies> {
  const onPostgres = place.startsWith('postgres');
  const database = onPostgres ? null : new DatabaseSync(join(place, 'store.db'), { timeout: 60_000 });
  const run: Run = async (sql) =>
    database ? (database.prepare(sql).all() as Record<string, unknown>[]) : ask(place, sql);
  const columnsOf = async (table: string) => {
    const rows = await run(
      onPostgres
        ? `select column_name as name from information_schema.columns where table_schema = current_schema() and table_name = '${table}'`
        : `select name from pragma_table_info('${table}')`,
    );
    return rows.map(({ name }) => String(name));
  };
  const numbers = (from: number, to: number) =>
    onPostgres
      ? `generate_series(${from}, ${to}) n`
      : `(with recursive c(n) as (select ${from} union all select n + 1 from c where n < ${to}) select n from c)`;
  const copyTags = async (threadId: string, from: number, to: number) => {
    const { thread_id: id, tag, created_at: at } = TAG;
    await run(
      `insert into thread_tags (thread_id, tag, created_at) select ${id}, ${tag}, ${at} from (select * from threads where id = '${threadId}') r, ${numbers(from, to)}`,
    );
    await run(onPostgres ? 'vacuum analyze' : 'analyze');
  };
  const copy = async (table: string, where: string, changes: Changes, from: number, to: number) => {
    const columns = await columnsOf(table);
    const values = columns.map((column) => changes[column] ?? `r.${column}`);
    await run(
      `insert into ${table} (${columns}) select ${values} from (select * from ${table} where ${where}) r, ${numbers(from, to)}`,
    );
    await run(onPostgres ? 'vacuum analyze' : 'analyze');
    // On SQLite this thread was blocked: sockets that the server has closed since then must be noticed before they are
    // used again.
    await delay(1000);
  };
  return {
    async threads(threadId, from, to) {
      await copy('threads', `id = '${threadId}'`, THREAD, from, to);
      await copyTags(threadId, from, to);
    },
    async messages(threadId, from, to) {
      const first = `(select min(created_at) from messages where thread_id = '${threadId}')`;
      await copy('messages', `thread_id = '${threadId}' and created_at = ${first}`, MESSAGE, from, to);
      const added = to - from + 1;
      await run(
        `update threads set message_count = message_count + ${added}, clock = clock + ${added} where id = '${threadId}'`,
      );
    },
    async close() {
      database?.close();
    },
  };
}
