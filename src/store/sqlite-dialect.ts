/**
 * Kysely on `node:sqlite`: one connection, one statement at a time, asynchronous waits.
 * I1. `node:sqlite` blocks the thread, and heartbeats live on it: the engine itself waits at most
 *     BUSY_TIMEOUT_MS, and a lock held longer is awaited with timers.
 * I2. Transactions begin IMMEDIATE: one that reads first and writes later would fail under WAL when another
 *     process wrote in between, with no way to wait. One that only reads takes no lock and waits for nobody.
 * I3. Migrations run in one transaction, which SQLite can do and Kysely's own adapter says it cannot: several
 *     processes may open a new file at once.
 * I4. Nobody is told of a write before the disk has it, unless its transaction was relaxed; the wait holds up
 *     neither the thread nor the next transaction. Writes reach the disk in order, relaxed ones with the next that
 *     is not, so what a power cut may take is always the end.
 */
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type CompiledQuery,
  type DatabaseConnection,
  type DatabaseIntrospector,
  type Dialect,
  type Driver,
  type Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type TransactionSettings,
} from 'kysely';
import { WalSync } from './wal-sync.ts';

const BUSY_TIMEOUT_MS = 50;
const LOCK_DEADLINE_MS = 60_000;
const CACHED_STATEMENTS = 256;
/** Pages of 4 KiB. SQLite's own 1,000 are 15 steps, and moving them into the database waits twice for the disk. */
const CHECKPOINT_PAGES = 4000;
const SQLITE_BUSY = 5;

export interface SqliteOptions {
  readonly path: string;
  /** `full` (default): what was answered survives a power cut; `normal`: it survives a killed process alone. */
  readonly synchronous?: 'full' | 'normal';
}

class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

export class NodeSqliteDialect implements Dialect {
  readonly #driver: NodeSqliteDriver;

  constructor(options: SqliteOptions) {
    this.#driver = new NodeSqliteDriver(options);
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

  /** The transaction that runs now, of which there is one at a time, commits without waiting for the disk (I4). */
  relax(): void {
    this.#driver.relax();
  }
}

class NodeSqliteDriver implements Driver {
  readonly #options: SqliteOptions;
  readonly #statements = new StatementCache();
  #database: DatabaseSync | undefined;
  #disk: WalSync | undefined;
  #lastHolder: Promise<void> = Promise.resolve();
  #holder: NodeSqliteConnection | undefined;

  constructor(options: SqliteOptions) {
    this.#options = options;
  }

  async init(): Promise<void> {
    const { path, synchronous = 'full' } = this.#options;
    const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
    await whileBusy(() => database.exec('pragma journal_mode = wal'));
    database.exec('pragma synchronous = normal');
    database.exec(`pragma wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    if (synchronous === 'full') this.#disk = new WalSync(path);
    this.#database = database;
  }

  /** A queue of one: whoever comes next waits for the one before. */
  async acquireConnection(): Promise<DatabaseConnection> {
    const before = this.#lastHolder;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#lastHolder = promise;
    await before;
    const prepare = (sql: string) => this.#statements.prepare(this.#database as DatabaseSync, sql);
    this.#holder = new NodeSqliteConnection({ prepare, release: resolve, disk: this.#disk });
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
    await this.#disk?.close();
    this.#statements.clear();
    this.#database?.close();
  }
}

interface ConnectionParts {
  readonly prepare: (sql: string) => Prepared;
  /** Lets the next holder in; once, however often it is called. */
  readonly release: () => void;
  readonly disk: WalSync | undefined;
}

/** The connection in the hands of one holder. */
class NodeSqliteConnection implements DatabaseConnection {
  readonly #prepare: ConnectionParts['prepare'];
  readonly #disk: WalSync | undefined;
  readonly release: () => void;
  #inTransaction = false;
  /** Whether the commit waits for the disk. */
  durable = true;

  constructor({ prepare, release, disk }: ConnectionParts) {
    this.#prepare = prepare;
    this.#disk = disk;
    this.release = release;
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const { statement, answers, reads } = this.#prepare(sql);
    const values = parameters as readonly SQLInputValue[];
    const result: QueryResult<R> = answers
      ? { rows: (await whileBusy(() => statement.all(...values))) as R[] }
      : { rows: [], numAffectedRows: BigInt((await whileBusy(() => statement.run(...values))).changes) };
    // Outside a transaction a write is one of its own.
    if (!this.#inTransaction && !reads) await this.#disk?.wait();
    return result;
  }

  async begin(readOnly: boolean): Promise<void> {
    const { statement } = this.#prepare(readOnly ? 'begin' : 'begin immediate');
    await whileBusy(() => statement.run());
    this.#inTransaction = true;
    this.durable = !readOnly;
  }

  async commit(): Promise<void> {
    await whileBusy(() => this.#prepare('commit').statement.run());
    this.#inTransaction = false;
    this.release();
    if (this.durable) await this.#disk?.wait();
  }

  async rollback(): Promise<void> {
    await whileBusy(() => this.#prepare('rollback').statement.run());
    this.#inTransaction = false;
  }

  // biome-ignore lint/correctness/useYield: Kysely's port has the method; nothing here streams rows.
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('The SQLite store does not stream rows.');
  }
}

interface Prepared {
  readonly statement: StatementSync;
  /** It has a result set. */
  readonly answers: boolean;
  /** It changes nothing. */
  readonly reads: boolean;
}

class StatementCache {
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

/** Tries again while another process holds the lock, giving the thread back in between. */
async function whileBusy<T>(run: () => T): Promise<T> {
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

function isBusy(error: unknown): boolean {
  const { code, errcode } = error as { code?: string; errcode?: number };
  return code === 'ERR_SQLITE_ERROR' && ((errcode ?? 0) & 0xff) === SQLITE_BUSY;
}
