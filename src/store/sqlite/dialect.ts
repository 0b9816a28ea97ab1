/**
 * Kysely on `node:sqlite`: one connection, one statement at a time, asynchronous waits.
 * - `node:sqlite` blocks the thread, which also sends heartbeats. So the engine itself waits at most BUSY_TIMEOUT_MS,
 *   and longer waits for a lock use timers.
 * - Transactions begin IMMEDIATE, because one that reads first and writes later cannot wait for another writer. Under
 *   WAL it would fail if another process wrote in between. One that only reads takes no lock and never waits.
 * - Migrations run in one transaction, so that several processes may open a new file at once. SQLite can do this,
 *   although Kysely's own adapter says that it cannot.
 * I4. A write is acknowledged only once it is on the disk, unless its transaction was relaxed. The wait holds up
 *     neither the thread nor the next transaction. Writes reach the disk in order, relaxed ones with the next that is
 *     not, so a power cut can only lose the newest writes.
 * I5. A write to files that are no longer the store's is not acknowledged (store-files.ts). Every error of the engine
 *     that has one of our codes is thrown with that code.
 */
import type { DatabaseSync } from 'node:sqlite';
import {
  type DatabaseConnection,
  type DatabaseIntrospector,
  type Dialect,
  type Driver,
  type Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type TransactionSettings,
} from 'kysely';
import { defer } from '../../core/value/deferred.ts';
import { NodeSqliteConnection } from './connection.ts';
import { openDatabase } from './engine.ts';
import { StatementCache, whileBusy } from './statements.ts';
import { StoreFiles } from './store-files.ts';
import { WalSync } from './wal-sync.ts';

const BUSY_TIMEOUT_MS = 50;
/**
 * Pages of 4 KiB. SQLite's default of 1,000 pages is 15 steps, and moving them into the database waits twice for the
 * disk.
 */
const CHECKPOINT_PAGES = 4000;

export interface SqliteOptions {
  readonly path: string;
  /** `full` (default): what was acknowledged survives a power cut; `normal`: it only survives a killed process. */
  readonly synchronous?: 'full' | 'normal';
}

class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

export class NodeSqliteDialect implements Dialect {
  readonly #driver: NodeSqliteDriver;
  /** Aborted when the store can no longer be used. */
  readonly ended: AbortSignal;

  constructor(options: SqliteOptions) {
    const files = new StoreFiles(options.path);
    this.ended = files.ended;
    this.#driver = new NodeSqliteDriver(options, files);
  }

  createAdapter(): SqliteAdapter {
    return new TransactionalSqliteAdapter();
  }

  createDriver(): Driver {
    return this.#driver;
  }

  createIntrospector(db: Kysely<unknown>): DatabaseIntrospector {
    return new SqliteIntrospector(db);
  }

  createQueryCompiler(): SqliteQueryCompiler {
    return new SqliteQueryCompiler();
  }

  /** Makes the current transaction, of which there is one at a time, commit without waiting for the disk (I4). */
  relax(): void {
    this.#driver.relax();
  }
}

class NodeSqliteDriver implements Driver {
  readonly #options: SqliteOptions;
  readonly #files: StoreFiles;
  readonly #statements = new StatementCache();
  #database: DatabaseSync | undefined;
  #disk: WalSync | undefined;
  #lastHolder: Promise<void> = Promise.resolve();
  #holder: NodeSqliteConnection | undefined;

  constructor(options: SqliteOptions, files: StoreFiles) {
    this.#options = options;
    this.#files = files;
  }

  async init(): Promise<void> {
    try {
      await this.#open();
    } catch (error) {
      this.#database?.close();
      throw this.#files.explain(error);
    }
  }

  async #open(): Promise<void> {
    const { path, synchronous = 'full' } = this.#options;
    const database = openDatabase(path, { timeout: BUSY_TIMEOUT_MS });
    this.#database = database;
    await whileBusy(() => database.exec('pragma journal_mode = wal'));
    database.exec('pragma synchronous = normal');
    database.exec(`pragma wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    // The first read opens the log and the index.
    await whileBusy(() => database.exec('select count(*) from sqlite_master'));
    this.#files.remember();
    if (synchronous === 'full') this.#disk = new WalSync(path);
  }

  /** Callers get the connection one after another, each when the one before has released it. */
  async acquireConnection(): Promise<DatabaseConnection> {
    const before = this.#lastHolder;
    const { promise, resolve } = defer<void>();
    this.#lastHolder = promise;
    await before;
    const database = this.#database as DatabaseSync;
    this.#holder = new NodeSqliteConnection({
      database,
      prepare: (sql) => this.#statements.prepare(database, sql),
      release: resolve,
      disk: this.#disk,
      files: this.#files,
    });
    return this.#holder;
  }

  relax(): void {
    if (this.#holder) this.#holder.durable = false;
  }

  async beginTransaction(
    connection: NodeSqliteConnection,
    { accessMode }: TransactionSettings,
  ): Promise<void> {
    await connection.begin(accessMode === 'read only');
  }

  async commitTransaction(connection: NodeSqliteConnection): Promise<void> {
    await connection.commit();
  }

  async rollbackTransaction(connection: NodeSqliteConnection): Promise<void> {
    await connection.rollback();
  }

  async releaseConnection(connection: NodeSqliteConnection): Promise<void> {
    connection.release();
  }

  async destroy(): Promise<void> {
    this.#files.close();
    await this.#disk?.close();
    this.#statements.clear();
    this.#database?.close();
  }
}
