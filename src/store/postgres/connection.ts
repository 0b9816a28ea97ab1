/**
 * A connection to PostgreSQL in the hands of one holder. Over a network each answer that somebody waits for is a way to the
 * server and back, which is most of what a short transaction costs.
 * A1. Within a transaction a `begin` or a write without `returning` goes out, and nobody waits for its answer: its count of rows
 *     is unknown, so a command that wants to know what it has written says `returning`. `commit` waits for all of them;
 *     that of a transaction which only reads is not waited for either.
 * A2. The first statement that fails is the one whose error is told, whoever was waiting when it became known: what the server
 *     says of those behind it is only that the transaction has failed.
 * A3. `RELAX` needs no way to the server of its own: it goes along with the commit.
 */
import type { PostgresCursor, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import type { PoolClient, QueryResult } from 'pg';
import { fromPg } from './error.ts';
import { toPostgresText } from './text.ts';

/** The transaction that runs now commits without waiting for the disk. */
export const RELAX = 'set local synchronous_commit = off';

const BEGIN = /^(begin|start transaction)\b/i;
const READ_ONLY = /\bread only$/i;
const WRITE = /^(insert|update|delete)\b/i;
const RETURNING = /\breturning\b/i;
/** Content on its way is held in memory: beyond this the next write waits for its answer. */
const MOST_UNANSWERED_BYTES = 1024 * 1024;

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
  /** The first failure among the unanswered (A2). */
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
    if (typeof asked !== 'string') throw new Error('This store streams no rows: it has no use for cursors.');
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
      return this.#post(sql, parameters);
    }
    const unawaited = this.#inTransaction && WRITE.test(sql) && !RETURNING.test(sql);
    if (unawaited && this.#unansweredBytes < MOST_UNANSWERED_BYTES) return this.#post(sql, parameters);
    const answer = await this.#answer(sql, parameters);
    this.#unansweredBytes = 0;
    return answer;
  }

  async #commit(): Promise<Answer> {
    try {
      if (this.#readOnly) return this.#post('commit', []);
      const sql = this.#relaxed ? `${RELAX}; commit` : 'commit';
      const answer = [await this.#answer(sql, [])].flat().at(-1);
      await Promise.all(this.#unanswered);
      if (this.#failed) throw this.#failed.error;
      // Of a failure that nobody has told us of.
      if (answer?.command === 'ROLLBACK')
        throw new Error('PostgreSQL rolled the transaction back instead of committing it.');
      return NOTHING;
    } finally {
      this.#end();
    }
  }

  async #rollback(): Promise<Answer> {
    // After a loss the server rolls back by itself; the error that is on its way must arrive.
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

  /** A1: nobody waits for the answer. */
  #post(sql: string, parameters: readonly unknown[]): Answer {
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

  /** A2: the first failure is told. */
  async #answer(sql: string, parameters: readonly unknown[]): Promise<Answer> {
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
