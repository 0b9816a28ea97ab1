/**
 * Kysely on `node:sqlite`: one connection, one statement at a time, asynchronous waits.
 * I1. `node:sqlite` blocks the thread, and heartbeats live on it: the engine itself waits at most
 *     BUSY_TIMEOUT_MS, and a lock held longer is awaited with timers.
 * I2. Transactions begin IMMEDIATE: one that reads first and writes later would fail under WAL when another
 *     process wrote in between, with no way to wait. One that only reads takes no lock and waits for nobody.
 * I3. Migrations run in one transaction, which SQLite can do and Kysely's own adapter says it cannot: several
 *     processes may open a new file at once.
 */
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import {
  CompiledQuery,
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

const BUSY_TIMEOUT_MS = 50;
const LOCK_DEADLINE_MS = 60_000;
const CACHED_STATEMENTS = 256;
const SQLITE_BUSY = 5;

export interface SqliteOptions {
  readonly path: string;
  /** `full` (default) survives a power cut; `normal` survives a killed process and is faster on slow disks. */
  readonly synchronous?: 'full' | 'normal';
}

class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

export class NodeSqliteDialect implements Dialect {
  readonly #options: SqliteOptions;

  constructor(options: SqliteOptions) {
    this.#options = options;
  }

  createAdapter(): SqliteAdapter {
    return new TransactionalSqliteAdapter();
  }

  createDriver(): Driver {
    return new NodeSqliteDriver(this.#options);
  }

  createIntrospector(db: Kysely<unknown>): DatabaseIntrospector {
    return new SqliteIntrospector(db);
  }

  createQueryCompiler(): SqliteQueryCompiler {
    return new SqliteQueryCompiler();
  }
}

class NodeSqliteDriver implements Driver {
  readonly #options: SqliteOptions;
  #connection: NodeSqliteConnection | undefined;
  #lastHolder: Promise<void> = Promise.resolve();
  #release: (() => void) | undefined;

  constructor(options: SqliteOptions) {
    this.#options = options;
  }

  async init(): Promise<void> {
    const database = new DatabaseSync(this.#options.path, { timeout: BUSY_TIMEOUT_MS });
    await whileBusy(() => database.exec('pragma journal_mode = wal'));
    database.exec(`pragma synchronous = ${this.#options.synchronous ?? 'full'}`);
    this.#connection = new NodeSqliteConnection(database);
  }

  /** A queue of one: whoever comes next waits for the one before. */
  async acquireConnection(): Promise<DatabaseConnection> {
    const before = this.#lastHolder;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#lastHolder = promise;
    await before;
    this.#release = resolve;
    return this.#connection as NodeSqliteConnection;
  }

  async beginTransaction(connection: DatabaseConnection, { accessMode }: TransactionSettings): Promise<void> {
    await connection.executeQuery(
      CompiledQuery.raw(accessMode === 'read only' ? 'begin' : 'begin immediate'),
    );
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('commit'));
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('rollback'));
  }

  async releaseConnection(): Promise<void> {
    this.#release?.();
  }

  async destroy(): Promise<void> {
    this.#connection?.close();
  }
}

class NodeSqliteConnection implements DatabaseConnection {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const statement = this.#prepare(sql);
    const values = parameters as readonly SQLInputValue[];
    if (statement.columns().length > 0) {
      return { rows: (await whileBusy(() => statement.all(...values))) as R[] };
    }
    const { changes } = await whileBusy(() => statement.run(...values));
    return { rows: [], numAffectedRows: BigInt(changes) };
  }

  // biome-ignore lint/correctness/useYield: Kysely's port has the method; nothing here streams rows.
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('The SQLite store does not stream rows.');
  }

  #prepare(sql: string): StatementSync {
    const cached = this.#statements.get(sql);
    if (cached) return cached;
    const statement = this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    if (this.#statements.size > CACHED_STATEMENTS) {
      const [oldest] = this.#statements.keys();
      this.#statements.delete(oldest as string);
    }
    return statement;
  }

  close(): void {
    this.#statements.clear();
    this.#database.close();
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
