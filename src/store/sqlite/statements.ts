/** Statements of one SQLite connection: prepared once, and retried while another process holds the lock. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { isBusy } from './error.ts';

const LOCK_DEADLINE_MS = 60_000;
const CACHED_STATEMENTS = 256;

export interface Prepared {
  readonly statement: StatementSync;
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
    const prepared = { statement, answers: statement.columns().length > 0, reads: /^\s*select\b/i.test(sql) };
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
