/**
 * Counts what reaches `node:sqlite` or `pg`: statements, commits and the time until the engine has answered. Installed
 * before a store is opened; it wraps the classes' own methods, because nothing else sees statements from below the
 * query builder.
 */
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { Client } from 'pg';

export interface Meter {
  statements: number;
  commits: number;
  engineMs: number;
  commitMs: number;
  /** Rows that the engine returned. */
  rows: number;
}

type Method = (this: StatementSync, ...values: never[]) => unknown;

export function installMeter(): Meter {
  const meter: Meter = { statements: 0, commits: 0, engineMs: 0, commitMs: 0, rows: 0 };
  const prototype = StatementSync.prototype as unknown as Record<string, Method>;
  for (const name of ['all', 'run', 'get']) {
    const original = prototype[name] as Method;
    prototype[name] = function (...values) {
      return record(meter, this.sourceSQL, () => original.apply(this, values));
    };
  }
  const execute = DatabaseSync.prototype.exec;
  DatabaseSync.prototype.exec = function (sql) {
    return record(meter, sql, () => execute.call(this, sql));
  };
  const { query } = Client.prototype as unknown as Record<string, (...values: unknown[]) => unknown>;
  Object.assign(Client.prototype, {
    query(...values: unknown[]) {
      const startedAt = performance.now();
      const answer = query?.apply(this, values) as Promise<unknown>;
      return answer
        .then((result) => {
          meter.rows += (result as { rows?: unknown[] } | undefined)?.rows?.length ?? 0;
          return result;
        })
        .finally(() => count(meter, String(values[0]), performance.now() - startedAt));
    },
  });
  return meter;
}

function record<T>(meter: Meter, sql: string, run: () => T): T {
  const startedAt = performance.now();
  const result = run();
  if (Array.isArray(result)) meter.rows += result.length;
  count(meter, sql, performance.now() - startedAt);
  return result;
}

function count(meter: Meter, sql: string, ms: number): void {
  meter.statements += 1;
  meter.engineMs += ms;
  // Outside a transaction every write is its own commit; the store writes so only when it stages an item.
  if (/(^|; )commit$/i.test(sql)) {
    meter.commits += 1;
    meter.commitMs += ms;
  }
}
