/**
 * Opens a store on PostgreSQL. Several processes may do so at once on an empty database: Kysely's migrator takes an
 * advisory lock, and creates all tables in one transaction.
 *
 * Retries a store's commands if that can help. All may be given twice, because natural keys guard them. Only streamed
 * text has no key: a chunk of which it is unknown whether it was stored is given up (store.ts, P6).
 * - A serialization failure or a deadlock has changed nothing: the command is retried after a short pause, with
 *   MAX_ATTEMPTS attempts in all.
 * - After a lost connection the command is retried on another one for MAX_RETRY_MS, which is what a restart of
 *   PostgreSQL takes. After that it rejects with `StoreUnavailable`, and Temporal retries the activity for as long as
 *   it takes.
 */

import { setTimeout as delay } from 'node:timers/promises';
import { CompiledQuery, Kysely, PostgresDialect, sql } from 'kysely';
import { RuntimeError } from '../../core/value/error.ts';
import { bindStore } from '../bind-store.ts';
import type { KeySource } from '../crypto/key-file.ts';
import { migrate } from '../schema/migrations.ts';
import type { Tables } from '../schema/tables.ts';
import type { ThreadStore } from '../store.ts';
import type { Runner, RunOptions } from '../transaction/context.ts';
import { type PostgresAddress, readPostgresAddress } from './address.ts';
import { postgresChanges } from './change-order.ts';
import { RELAX } from './connection.ts';
import { explainOpening, explainServer, isConflict, isConnectionLost, unavailable } from './error.ts';
import { StorePool } from './pool.ts';

export interface OpenOptions {
  /** If false, a database without a store is refused with `ThreadNotFound`, and stays as it is. */
  readonly create?: boolean;
  readonly keys: KeySource;
  /** Ceiling of a family's model calls (budget/account.ts); 0: none. */
  readonly familyCalls: number;
  /** Days for which requests to models are kept; 0: not at all. */
  readonly requestDays: number;
}

/**
 * Throws `InvalidConfiguration` (address, password, rights, TLS), `StoreUnavailable`, or, unless it may create the
 * store, `ThreadNotFound`.
 */
export async function openPostgresStore(
  text: string,
  { create = true, keys, familyCalls, requestDays }: OpenOptions,
): Promise<ThreadStore> {
  const address = readPostgresAddress(text);
  const version = await setUp(address, create);
  const db = connect(new StorePool(address));
  try {
    const place = `PostgreSQL ${version} at ${address.place}`;
    const persistence = new Persistence(place);
    const store = await bindStore(db, {
      place,
      run: persistence.run,
      keys,
      familyCalls,
      requestDays,
      rowLocks: true,
      order: postgresChanges,
      relax: async (trx) => {
        await trx.executeQuery(CompiledQuery.raw(RELAX));
      },
      clock: readClock,
    });
    const close = () => {
      persistence.close();
      return store.close();
    };
    return { ...store, close };
  } catch (error) {
    await db.destroy();
    throw explainOpening(error, address);
  }
}

/** The server's clock: those of the workers' machines may differ. */
async function readClock(trx: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{ now: string }>`
    select (extract(epoch from clock_timestamp()) * 1000000)::bigint as now`.execute(trx);
  return Number(rows[0]?.now);
}

function connect(pool: StorePool): Kysely<Tables> {
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
}

/** Creates or migrates the store if needed; returns the server's version. */
async function setUp(address: PostgresAddress, create: boolean): Promise<string> {
  // Waiting for another process that migrates, and a large migration, may take longer than any command.
  const db = connect(new StorePool({ ...address, poolSize: 1 }, { patient: true }));
  try {
    const version = await checkServer(db, address, create);
    const { place, schema } = address;
    await migrate(db, { place, schema, toDelete: `the schema "${schema}" of that database` });
    return version;
  } catch (error) {
    throw explainOpening(error, address);
  } finally {
    await db.destroy();
  }
}

interface ServerInfo {
  readonly version: string;
  /** True if the database already has a store. */
  readonly store: boolean;
}

/**
 * Returns the server's version. Throws `InvalidConfiguration` unless the encoding is UTF8, and `ThreadNotFound` if
 * there is no store and it may not be created.
 */
async function checkServer(db: Kysely<Tables>, address: PostgresAddress, create: boolean): Promise<string> {
  const { rows } = await sql<ServerInfo & { encoding: string }>`
    select split_part(current_setting('server_version'), ' ', 1) as version,
      current_setting('server_encoding') as encoding,
      to_regclass(${`${address.schema}.meta`}::text) is not null as store`.execute(db);
  const [{ version, encoding, store }] = rows as [(typeof rows)[number]];
  if (encoding !== 'UTF8') {
    throw new RuntimeError(
      'InvalidConfiguration',
      `The database at ${address.place} has the encoding ${encoding}; the store needs UTF8 (createdb -E UTF8 -T template0).`,
    );
  }
  if (!store && !create) {
    throw new RuntimeError(
      'ThreadNotFound',
      `There are no threads yet: the database at ${address.place} has no store.`,
    );
  }
  return version;
}

const MAX_ATTEMPTS = 8;
const MAX_RETRY_MS = 15_000;

export class Persistence {
  readonly #place: string;
  #closed = false;

  /** `place`: location of the store, for error messages. */
  constructor(place: string) {
    this.#place = place;
  }

  readonly run: Runner = async (command, options = {}) => {
    const deadline = performance.now() + MAX_RETRY_MS;
    for (let attempt = 1; ; attempt++) {
      try {
        return await command();
      } catch (error) {
        this.#throwIfFinal(error, { ...options, attempt, deadline });
        const longest = isConnectionLost(error) ? 1000 : 100;
        await delay(Math.min(10 * 2 ** attempt, longest) * (0.5 + Math.random()));
      }
    }
  };

  /** Throws unless another attempt may help. */
  #throwIfFinal(error: unknown, { once, attempt, deadline }: AttemptOptions): void {
    if (isConnectionLost(error)) {
      if (this.#closed || once || performance.now() > deadline) throw unavailable(this.#place, error);
    } else if (!isConflict(error) || attempt >= MAX_ATTEMPTS) throw explainServer(error, this.#place);
  }

  /** The store is closed: after a lost connection nothing is retried any more. */
  close(): void {
    this.#closed = true;
  }
}

interface AttemptOptions extends RunOptions {
  readonly attempt: number;
  readonly deadline: number;
}
