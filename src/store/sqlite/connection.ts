/**
 * The one connection to a SQLite file, in the hands of one holder: statements, transactions, and what must be true before
 * anybody is told of a write (dialect.ts, I4 and I5).
 */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';
import { type Prepared, whileBusy } from './statements.ts';
import type { StoreFiles } from './store-files.ts';
import type { WalSync } from './wal-sync.ts';

interface ConnectionParts {
  readonly database: DatabaseSync;
  readonly prepare: (sql: string) => Prepared;
  /** Lets the next holder in; once, however often it is called. */
  readonly release: () => void;
  readonly disk: WalSync | undefined;
  readonly files: StoreFiles;
}

/** The connection in the hands of one holder. */
export class NodeSqliteConnection implements DatabaseConnection {
  readonly #parts: ConnectionParts;
  readonly release: () => void;
  #inTransaction = false;
  /** Whether the commit waits for the disk. */
  durable = true;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    this.release = parts.release;
  }

  executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    return this.#told(async () => {
      const { statement, answers, reads } = this.#parts.prepare(sql);
      if (!this.#inTransaction) this.#before(reads);
      const values = parameters as readonly SQLInputValue[];
      const result: QueryResult<R> = answers
        ? { rows: (await whileBusy(() => statement.all(...values))) as R[] }
        : { rows: [], numAffectedRows: BigInt((await whileBusy(() => statement.run(...values))).changes) };
      // Outside a transaction a write is one of its own.
      if (!this.#inTransaction && !reads) await this.#written(true);
      return result;
    });
  }

  begin(readOnly: boolean): Promise<void> {
    return this.#told(async () => {
      this.#before(readOnly);
      await this.#run(readOnly ? 'begin' : 'begin immediate');
      this.#inTransaction = true;
      this.durable = !readOnly;
    });
  }

  commit(): Promise<void> {
    return this.#told(async () => {
      await this.#run('commit');
      this.#inTransaction = false;
      this.release();
      await this.#written(this.durable);
    });
  }

  /** Also called after a commit whose disk refused, when the connection is somebody else's; and the engine may have been first. */
  async rollback(): Promise<void> {
    if (!this.#inTransaction) return;
    this.#inTransaction = false;
    if (this.#parts.database.isTransaction) await this.#told(() => this.#run('rollback'));
  }

  async #run(sql: string): Promise<void> {
    await whileBusy(() => this.#parts.prepare(sql).statement.run());
  }

  /** Reads are answered at once; before the answer to a write the files are checked. */
  #before(readOnly: boolean): void {
    const { files } = this.#parts;
    if (readOnly) files.check();
    else files.ended.throwIfAborted();
  }

  /** The disk has it, in the store's own files (dialect.ts, I4 and I5). */
  async #written(durable: boolean): Promise<void> {
    const { disk, files } = this.#parts;
    try {
      if (durable) await disk?.wait();
    } finally {
      // A log that is not there any more cannot be synced: that is told as what it is.
      files.check();
    }
  }

  async #told<T>(work: () => Promise<T>): Promise<T> {
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
