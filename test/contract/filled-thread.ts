/**
 * A thread near a limit: rows that would take thousands of commands are copied in its SQLite file from one row that the
 * store wrote itself. The store writes the last rows, and whatever meets the limit.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openStore } from '../../src/store/open-store.ts';
import type { ThreadStore } from '../../src/store/store.ts';
import { closeAfterTest } from '../support/runtime.ts';
import { openThread } from './thread-driver.ts';

export interface FilledThread {
  readonly store: ThreadStore;
  readonly id: string;
  /** Copies the row of this thread whose `column` holds `original`, once for each of the names. */
  copyRow(table: string, column: string, original: string, names: readonly string[]): void;
  /** Runs any other change on the file, bypassing the store. */
  change(sql: string, ...values: readonly (string | number)[]): void;
}

export async function openFilledThread(): Promise<FilledThread> {
  const folder = join(process.env.EVERTHREAD_TEST_FOLDER as string, randomUUID());
  mkdirSync(folder, { recursive: true });
  const store = await openStore('sqlite:store.db?synchronous=normal', folder);
  closeAfterTest(() => store.close());
  const { id } = await openThread(store);
  const beside = new DatabaseSync(join(folder, 'store.db'), { timeout: 10_000 });
  closeAfterTest(async () => beside.close());
  const change: FilledThread['change'] = (sql, ...values) => {
    const { changes } = beside.prepare(sql).run(...values);
    if (changes === 0) throw new Error(`Nothing was changed: ${sql}`);
  };
  return {
    store,
    id,
    change,
    copyRow(table, column, original, names) {
      const columns = beside.prepare('select name from pragma_table_info(?)').all(table);
      const all = columns.map(({ name }) => String(name));
      const copied = all.map((name) => (name === column ? 'names.value' : `source.${name}`));
      change(
        `insert into ${table} (${all.join(', ')}) select ${copied.join(', ')} from ${table} as source
           join json_each(?) as names where source.thread_id = ? and source.${column} = ?`,
        JSON.stringify(names),
        id,
        original,
      );
    },
  };
}
