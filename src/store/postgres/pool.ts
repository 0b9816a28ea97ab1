/**
 * The pool of connections to PostgreSQL that Kysely's driver uses, with the settings that a store needs.
 * - A connection that fails, idle or in use, never ends the process: its user gets `ConnectionLost`, and the pool
 *   discards it.
 * - Each session has the settings that commands rely on: its schema, READ COMMITTED, and a limit for every wait. A
 *   worker that is lost with its machine holds the lock of a thread's row no longer than IDLE_IN_TRANSACTION_MS.
 * - How types are converted to JavaScript is set for this pool only: other users of `pg` in this process are not
 *   affected.
 */
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import { Client, Pool, type PoolConfig, TypeOverrides } from 'pg';
import { fromNumeric, NUMERIC_OID } from '../schema/column.ts';
import type { PostgresAddress } from './address.ts';
import { StoreConnection } from './connection.ts';
import { fromPg } from './error.ts';
import { fromPostgresText } from './text.ts';

const STATEMENT_TIMEOUT_MS = 30_000;
const IDLE_IN_TRANSACTION_MS = 10_000;
const CONNECT_TIMEOUT_MS = 10_000;
/** Longer than the server's own timeout, so that it only fires if the server is unreachable. */
const QUERY_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 5_000;
const IDLE_TIMEOUT_MS = 60_000;

const INT8_OID = 20;
const TEXT_OID = 25;

export class StorePool implements PostgresPool {
  readonly #pool: Pool;

  /** `patient`: statements have no time limit. */
  constructor(address: PostgresAddress, { patient = false } = {}) {
    this.#pool = new Pool(poolConfig(address, patient));
    this.#pool.on('error', () => undefined);
    // The pool listens to idle connections only; the failure of one in use would have no listener.
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

/**
 * Closes its socket if it cannot connect, for want of a password for example; else the socket would keep the process
 * alive.
 */
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
  types.setTypeParser(INT8_OID, Number);
  types.setTypeParser(TEXT_OID, fromPostgresText);
  types.setTypeParser(NUMERIC_OID, fromNumeric);
  return {
    connectionString,
    max: poolSize,
    types,
    Client: StoreClient,
    // For statements whose answers are not awaited (connection.ts).
    pipeline: true,
    keepAlive: true,
    fallback_application_name: 'everthread',
    enableChannelBinding: channelBinding,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    query_timeout: patient ? 0 : QUERY_TIMEOUT_MS,
    // Not as startup parameters, which poolers refuse.
    onConnect: async (client) => {
      await client.query(
        `select set_config(name, value, false) from unnest($1::text[], $2::text[]) as setting (name, value)`,
        [Object.keys(session), Object.values(session)],
      );
    },
  } as PoolConfig;
}
