/** Statements of one SQLite connection: prepared once, and retried while another process holds the lock. */
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { isWholeNumber } from '../schema/column.ts';
import { isBusy } from './error.ts';

const LOCK_DEADLINE_MS = 60_000;
const CACHED_STATEMENTS = 256;

export interface Prepared {
  readonly statement: StatementSync;
  /** Columns of its result whose values are bigints. */
  readonly whole: readonly string[];
  /** True if it has a result set. */
  readonly answers: boolean;
  /** True if it changes nothing. */
  readonly reads: boolean;
}

export class StatementCache {
  readonly #statements = new Map<string, Prepared>();

  prepare(database: DatabaseSync, sql: string): Prepared {
    const cached = this.#statements.get(sql);
    if (cached) return cached;
    const statement = database.prepare(sql);
    const columns = statement.columns();
    const whole = columns.filter(({ type }) => isWholeNumber(type)).map(({ name }) => name);
    // The driver returns either all integers of a row as bigints, or none.
    if (whole.length > 0) statement.setReadBigInts(true);
    const prepared = { statement, whole, answers: columns.length > 0, reads: /^\s*select\b/i.test(sql) };
    this.#statements.set(sql, prepared);
    if (this.#statements.size > CACHED_STATEMENTS) {
      const [oldest] = this.#statements.keys();
      this.#statements.delete(oldest as string);
    }
    return prepared;
  }

  clear(): void {
    this.#statements.clear();
  }
}

/** Returns all rows, with bigints only in the columns that are declared so. */
export function readRows({ statement, whole }: Prepared, values: readonly SQLInputValue[]): unknown[] {
  const rows = statement.all(...values);
  if (whole.length > 0)
    for (const row of rows)
      for (const [name, value] of Object.entries(row))
        if (typeof value === 'bigint' && !whole.includes(name)) row[name] = Number(value);
  return rows;
}

/** Retries `run` while another process holds the lock, for at most LOCK_DEADLINE_MS; the thread is free in between. */
export async function whileBusy<T>(run: () => T): Promise<T> {
  const deadline = performance.now() + LOCK_DEADLINE_MS;
  for (let pause = 2; ; pause = Math.min(pause * 2, 50)) {
    try {
      return run();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
      await delay(pause * (0.5 + Math.random()));
    }
  }
}
