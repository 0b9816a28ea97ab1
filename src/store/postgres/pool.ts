/**
 * Connections to PostgreSQL as Kysely's driver takes them, with what a store needs of them.
 * C1. A connection that fails, idle or at work, never ends the process: whoever uses it gets `ConnectionLost`, and the
 *     pool throws it away.
 * C2. Each session has what the commands rely on: its schema, READ COMMITTED, and an end to every wait. A worker that
 *     vanishes with its machine holds a thread's row no longer than IDLE_IN_TRANSACTION_MS.
 * C3. What types become in JavaScript is this pool's own affair: other users of `pg` in this process notice nothing.
 */
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import { Client, Pool, type PoolConfig, TypeOverrides } from 'pg';
import type { PostgresAddress } from './address.ts';
import { StoreConnection } from './connection.ts';
import { fromPg } from './error.ts';
import { fromPostgresText } from './text.ts';

const STATEMENT_TIMEOUT_MS = 30_000;
const IDLE_IN_TRANSACTION_MS = 10_000;
const CONNECT_WITHIN_MS = 10_000;
/** Later than the server's own: it speaks only when the server is out of reach. */
const ANSWER_WITHIN_MS = STATEMENT_TIMEOUT_MS + 5_000;
const KEEP_IDLE_MS = 60_000;

const INT8 = 20;
const TEXT = 25;

export class StorePool implements PostgresPool {
  readonly #pool: Pool;

  /** `patient`: a statement may take any time. */
  constructor(address: PostgresAddress, { patient = false } = {}) {
    this.#pool = new Pool(poolConfig(address, patient));
    this.#pool.on('error', () => undefined);
    // The pool listens to idle connections only; a failure of one at work would have no listener (C1).
    this.#pool.on('connect', (client) => client.on('error', () => undefined));
  }

  async connect(): Promise<PostgresPoolClient> {
    try {
      return new StoreConnection(await this.#pool.connect());
    } catch (error) {
      throw fromPg(error);
    }
  }

  end(): Promise<void> {
    return this.#pool.end();
  }
}

/** One that cannot get in, for want of a password for example, would keep its socket, and with it the process. */
class StoreClient extends Client {
  // biome-ignore lint/suspicious/noExplicitAny: two ways to call, by promise and by callback; the pool takes the latter.
  override connect(callback?: any): any {
    return super.connect((error: Error) => {
      if (error) this.end().catch(() => undefined);
      callback?.(error);
    });
  }
}

function poolConfig(address: PostgresAddress, patient: boolean): PoolConfig {
  const { connectionString, schema, poolSize, channelBinding } = address;
  const session = {
    search_path: schema,
    default_transaction_isolation: 'read committed',
    statement_timeout: patient ? '0' : String(STATEMENT_TIMEOUT_MS),
    idle_in_transaction_session_timeout: String(IDLE_IN_TRANSACTION_MS),
  };
  const types = new TypeOverrides();
  types.setTypeParser(INT8, Number);
  types.setTypeParser(TEXT, fromPostgresText);
  return {
    connectionString,
    max: poolSize,
    types,
    Client: StoreClient,
    // For what goes unawaited (connection.ts).
    pipeline: true,
    keepAlive: true,
    fallback_application_name: 'everthread',
    enableChannelBinding: channelBinding,
    connectionTimeoutMillis: CONNECT_WITHIN_MS,
    idleTimeoutMillis: KEEP_IDLE_MS,
    query_timeout: patient ? 0 : ANSWER_WITHIN_MS,
    // Not as parameters of the start: poolers refuse those.
    onConnect: async (client) => {
      await client.query(
        `select set_config(name, value, false) from unnest($1::text[], $2::text[]) as setting (name, value)`,
        [Object.keys(session), Object.values(session)],
      );
    },
  } as PoolConfig;
}
