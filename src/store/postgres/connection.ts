/**
 * A connection to PostgreSQL while one user has it. Over a network each awaited answer is a round trip to the server,
 * which is most of what a short transaction costs.
 * A4. Within a transaction, `begin` and writes without `returning` are sent without awaiting their answers. Their count
 *     of rows is unknown, so a command that needs to know what it has written uses `returning`. `commit` awaits all of
 *     them, but the commit of a read-only transaction is not awaited either.
 * - The error of the first statement that fails is the one that is thrown, whichever statement was awaited.
 *   Statements after it only fail because the transaction has failed.
 * - `RELAX` needs no round trip of its own: it is sent with the commit.
 */
import type { PostgresCursor, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import type { PoolClient, QueryResult } from 'pg';
import { fromPg } from './error.ts';
import { toPostgresText } from './text.ts';

/** Makes the current transaction commit without waiting for the disk. */
export const RELAX = 'set local synchronous_commit = off';

const BEGIN = /^(begin|start transaction)\b/i;
const READ_ONLY = /\bread only$/i;
const WRITE = /^(insert|update|delete)\b/i;
const RETURNING = /\breturning\b/i;
/** Unanswered writes are held in memory: beyond this many bytes the next write awaits its answer. */
const MAX_UNANSWERED_BYTES = 1024 * 1024;

type Answer = Pick<QueryResult, 'command' | 'rowCount' | 'rows'>;
const NOTHING: Answer = { command: '', rowCount: 0, rows: [] };

export class StoreConnection implements PostgresPoolClient {
  readonly #client: PoolClient;
  #lost: Error | undefined;
  #relaxed = false;
  #inTransaction = false;
  #readOnly = false;
  #unanswered: Promise<void>[] = [];
  #unansweredBytes = 0;
  /** The first failure among the unawaited statements. */
  #failed: { readonly error: unknown } | undefined;

  constructor(client: PoolClient) {
    this.#client = client;
  }

  query<R>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>>;
  query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>;
  query<R>(
    asked: string | PostgresCursor<R>,
    parameters: readonly unknown[] = [],
  ): Promise<PostgresQueryResult<R>> | PostgresCursor<R> {
    if (typeof asked !== 'string')
      throw new Error('The PostgreSQL store does not stream rows: it has no cursors.');
    return this.#ask(asked, parameters) as Promise<PostgresQueryResult<R>>;
  }

  async #ask(sql: string, parameters: readonly unknown[]): Promise<Answer> {
    if (sql === 'rollback') return this.#rollback();
    if (this.#lost) throw this.#lost;
    if (sql === RELAX) {
      this.#relaxed = true;
      return NOTHING;
    }
    if (sql === 'commit') return this.#commit();
    if (BEGIN.test(sql)) {
      this.#inTransaction = true;
      this.#readOnly = READ_ONLY.test(sql);
      return this.#sendUnawaited(sql, parameters);
    }
    const unawaited = this.#inTransaction && WRITE.test(sql) && !RETURNING.test(sql);
    if (unawaited && this.#unansweredBytes < MAX_UNANSWERED_BYTES)
      return this.#sendUnawaited(sql, parameters);
    const answer = await this.#sendAwaited(sql, parameters);
    this.#unansweredBytes = 0;
    return answer;
  }

  async #commit(): Promise<Answer> {
    try {
      if (this.#readOnly) return this.#sendUnawaited('commit', []);
      const sql = this.#relaxed ? `${RELAX}; commit` : 'commit';
      const answer = [await this.#sendAwaited(sql, [])].flat().at(-1);
      await Promise.all(this.#unanswered);
      if (this.#failed) throw this.#failed.error;
      // A statement has failed whose error did not reach this process.
      if (answer?.command === 'ROLLBACK')
        throw new Error('PostgreSQL rolled the transaction back instead of committing it.');
      return NOTHING;
    } finally {
      this.#end();
    }
  }

  async #rollback(): Promise<Answer> {
    // After a lost connection the server rolls back by itself, and the original error must reach the caller.
    try {
      return this.#lost ? NOTHING : await this.#send('rollback', []);
    } finally {
      this.#end();
    }
  }

  #end(): void {
    this.#inTransaction = false;
    this.#relaxed = false;
    this.#unanswered = [];
    this.#unansweredBytes = 0;
    this.#failed = undefined;
  }

  /** A4: sends without awaiting the answer. */
  #sendUnawaited(sql: string, parameters: readonly unknown[]): Answer {
    this.#unansweredBytes += sizeOf(parameters);
    const answered = this.#send(sql, parameters).then(
      () => undefined,
      (error: unknown) => {
        this.#failed ??= { error };
      },
    );
    this.#unanswered.push(answered);
    return NOTHING;
  }

  /** Awaits the answer, and throws the first failure. */
  async #sendAwaited(sql: string, parameters: readonly unknown[]): Promise<Answer> {
    try {
      return await this.#send(sql, parameters);
    } catch (error) {
      await Promise.all(this.#unanswered);
      throw this.#failed ? this.#failed.error : error;
    }
  }

  async #send(sql: string, parameters: readonly unknown[]): Promise<Answer> {
    const values = parameters.map((value) => (typeof value === 'string' ? toPostgresText(value) : value));
    try {
      return await this.#client.query(sql, values);
    } catch (error) {
      const met = fromPg(error);
      if (met !== error) this.#lost ??= met as Error;
      throw met;
    }
  }

  release(): void {
    this.#client.release(this.#lost);
  }
}

function sizeOf(parameters: readonly unknown[]): number {
  const sizes = parameters.map((value) =>
    typeof value === 'string' || value instanceof Uint8Array ? value.length : 0,
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
