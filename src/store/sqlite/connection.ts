/**
 * The one connection to a SQLite file while one user has it: statements, transactions, and what must be true before a
 * write is acknowledged (dialect.ts, I4 and I5).
 */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';
import { type Prepared, readRows, whileBusy } from './statements.ts';
import type { StoreFiles } from './store-files.ts';
import type { WalSync } from './wal-sync.ts';

interface ConnectionParts {
  readonly database: DatabaseSync;
  readonly prepare: (sql: string) => Prepared;
  /** Passes the connection to the next user; only the first call has an effect. */
  readonly release: () => void;
  readonly disk: WalSync | undefined;
  readonly files: StoreFiles;
}

/** The connection while one user has it. */
export class NodeSqliteConnection implements DatabaseConnection {
  readonly #parts: ConnectionParts;
  readonly release: () => void;
  #inTransaction = false;
  /** True if the commit waits for the disk. */
  durable = true;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    this.release = parts.release;
  }

  executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    return this.#withExplainedErrors(async () => {
      const prepared = this.#parts.prepare(sql);
      const { statement, answers, reads } = prepared;
      if (!this.#inTransaction) this.#checkBefore(reads);
      const values = parameters as readonly SQLInputValue[];
      const result: QueryResult<R> = answers
        ? { rows: (await whileBusy(() => readRows(prepared, values))) as R[] }
        : { rows: [], numAffectedRows: BigInt((await whileBusy(() => statement.run(...values))).changes) };
      // Outside a transaction, each write is a transaction by itself.
      if (!this.#inTransaction && !reads) await this.#awaitWritten(true);
      return result;
    });
  }

  begin(readOnly: boolean): Promise<void> {
    return this.#withExplainedErrors(async () => {
      this.#checkBefore(readOnly);
      await this.#run(readOnly ? 'begin' : 'begin immediate');
      this.#inTransaction = true;
      this.durable = !readOnly;
    });
  }

  commit(): Promise<void> {
    return this.#withExplainedErrors(async () => {
      await this.#run('commit');
      this.#inTransaction = false;
      this.release();
      await this.#awaitWritten(this.durable);
    });
  }

  /**
   * Also called after a commit whose sync failed, when the connection may belong to another user; and the engine may
   * have rolled back by itself.
   */
  async rollback(): Promise<void> {
    if (!this.#inTransaction) return;
    this.#inTransaction = false;
    if (this.#parts.database.isTransaction) await this.#withExplainedErrors(() => this.#run('rollback'));
  }

  async #run(sql: string): Promise<void> {
    await whileBusy(() => this.#parts.prepare(sql).statement.run());
  }

  /** The files are checked before a read, but for a write only after it, before it is acknowledged. */
  #checkBefore(readOnly: boolean): void {
    const { files } = this.#parts;
    if (readOnly) files.check();
    else files.ended.throwIfAborted();
  }

  /** Waits until the write is on the disk, in the store's own files (dialect.ts, I4 and I5). */
  async #awaitWritten(durable: boolean): Promise<void> {
    const { disk, files } = this.#parts;
    try {
      if (durable) await disk?.wait();
    } finally {
      // A log that was removed cannot be synced: this check reports the removal instead.
      files.check();
    }
  }

  async #withExplainedErrors<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.#parts.files.explain(error);
    }
  }

  // biome-ignore lint/correctness/useYield: Kysely's port has the method; nothing here streams rows.
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('The SQLite store does not stream rows.');
  }
}
