/**
 * Reads and checks a PostgreSQL address (`EVERTHREAD_STORE=postgres://…`).
 * - A password is never shown: error messages quote nothing that could contain one.
 * - Unknown parameters are refused: with a mistyped `schema`, threads would be stored in the wrong schema.
 */
import { RuntimeError } from '../../core/value/error.ts';

export interface PostgresAddress {
  /** For `pg`, without the parameters that only Everthread uses. */
  readonly connectionString: string;
  readonly schema: string;
  /** Maximum number of connections that this process opens. */
  readonly poolSize: number;
  /** True if `channel_binding` is given and is not `disable`. */
  readonly channelBinding: boolean;
  /** Server and schema, for display. */
  readonly place: string;
}

const DEFAULT_POOL_SIZE = 10;
const EXAMPLE = 'postgres://user:password@host:5432/database';
const OWN_PARAMETERS = ['schema', 'pool', 'channel_binding'];
const PG_PARAMETERS = [
  'host',
  'ssl',
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'sslnegotiation',
  'uselibpqcompat',
  'application_name',
  'options',
];
/** Schema names that need no quotes and are not reserved by PostgreSQL, so that every tool reads them alike. */
const SCHEMA = /^(?!pg_)[a-z_][a-z0-9_]{0,62}$/;

export function isPostgresAddress(address: string): boolean {
  return /^postgres(ql)?:\/\//.test(address);
}

/** Throws `InvalidConfiguration`. */
export function readPostgresAddress(address: string): PostgresAddress {
  const url = parse(address);
  const unknown = [...url.searchParams.keys()].filter(
    (name) => ![...OWN_PARAMETERS, ...PG_PARAMETERS].includes(name),
  );
  if (unknown.length > 0) {
    throw refuse(
      `has the unknown parameter "${unknown[0]}"; known parameters: ${[...OWN_PARAMETERS, ...PG_PARAMETERS].join(', ')}`,
    );
  }
  const schema = url.searchParams.get('schema') ?? 'public';
  if (!SCHEMA.test(schema))
    throw refuse(
      `names the schema "${schema}": use only lower-case letters, digits and _, without pg_ at the beginning`,
    );
  const pool = Number(url.searchParams.get('pool') ?? DEFAULT_POOL_SIZE);
  if (!Number.isInteger(pool) || pool < 1 || pool > 1000)
    throw refuse('has a "pool" that is not an integer from 1 to 1000');
  const binding = url.searchParams.get('channel_binding');
  for (const name of OWN_PARAMETERS) url.searchParams.delete(name);
  return {
    connectionString: url.href,
    schema,
    poolSize: pool,
    channelBinding: binding !== null && binding !== 'disable',
    place: `${showServer(url)}, schema ${schema}`,
  };
}

function parse(address: string): URL {
  const url = URL.parse(address);
  if (!url || !isComplete(url)) {
    throw refuse(
      'cannot be read; in the password, all characters except letters and digits must be percent-encoded (@ as %40, / as %2F)',
    );
  }
  return url;
}

/**
 * False if a password may have been cut: an unencoded / ? or # ends the part of a URL that may hold one, and what
 * follows must not be taken for something else.
 */
function isComplete({ username, password, pathname, search, hash }: URL): boolean {
  try {
    for (const part of [username, password, pathname]) decodeURIComponent(part);
  } catch {
    return false;
  }
  return !`${pathname}${search}${hash}`.includes('@') && hash === '';
}

/** Like `everthread@db.example.org:5432/agents`. */
function showServer({ username, hostname, port, pathname, searchParams }: URL): string {
  const host = hostname || searchParams.get('host') || 'localhost';
  const user = username === '' ? '' : `${decodeURIComponent(username)}@`;
  return `${user}${decodeURIComponent(host)}${port === '' ? '' : `:${port}`}${decodeURIComponent(pathname)}`;
}

function refuse(why: string): RuntimeError {
  return new RuntimeError(
    'InvalidConfiguration',
    `The PostgreSQL address of the store ${why}. Write it as ${EXAMPLE}, with ?schema=NAME and &pool=SIZE if needed.`,
  );
}
