/**
 * Classifies errors of a PostgreSQL server by their remedy: try again, wait for the server, or correct the settings.
 * Errors of the server are recognised by their SQLSTATE; an error without one is the connection's.
 */
import { errorMessage, RuntimeError } from '../../core/value/error.ts';
import type { PostgresAddress } from './address.ts';

/** The connection can no longer be used; it is unknown whether the last statement took effect. */
class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';

  constructor(cause: unknown) {
    super(describe(cause), { cause });
  }
}

/**
 * Connection failures (08), too many connections (53300), the server shutting down or starting (57P01 to 57P03),
 * sessions that it ended for idling (57P05, 25P03), and a server that has become a standby (25006).
 */
const LOST = /^(08...|53300|57P01|57P02|57P03|57P05|25P03|25006)$/;
/** Serialization failure and deadlock: the same transaction succeeds if it is retried. */
const CONFLICT = /^(40001|40P01)$/;
/** disk_full; and data_corrupted, index_corrupted. */
const FULL = '53100';
const CORRUPT = /^XX00[12]$/;
const SQLSTATE = /^[0-9A-Z]{5}$/;

function sqlState(error: unknown): string | undefined {
  const { code, severity } = (error ?? {}) as { code?: unknown; severity?: unknown };
  return severity !== undefined && typeof code === 'string' && SQLSTATE.test(code) ? code : undefined;
}

export function isConflict(error: unknown): boolean {
  return CONFLICT.test(sqlState(error) ?? '');
}

export function isConnectionLost(error: unknown): error is ConnectionLost {
  return (error as { name?: unknown } | null)?.name === 'ConnectionLost';
}

/** Converts an error of `pg`: a lost connection becomes a `ConnectionLost`, every other error is returned unchanged. */
export function fromPg(error: unknown): unknown {
  if (isConnectionLost(error)) return error;
  const state = sqlState(error);
  // A TypeError is a fault of ours; every other error without an SQLSTATE comes from the connection.
  const lost = state === undefined ? !(error instanceof TypeError) : LOST.test(state);
  return lost ? new ConnectionLost(error) : error;
}

/** Converts errors of the server's disk to `StoreFull` and `StoreCorrupt`; returns every other error unchanged. */
export function explainServer(error: unknown, place: string): unknown {
  const state = sqlState(error) ?? '';
  if (state === FULL) {
    return new RuntimeError(
      'StoreFull',
      `The disk of the store (${place}) is full: ${describe(error)}. Free space on the server's disk; threads wait and then continue ` +
        'by themselves, and refused requests can be sent again.',
      { cause: error },
    );
  }
  if (!CORRUPT.test(state)) return error;
  return new RuntimeError(
    'StoreCorrupt',
    `The store (${place}) is damaged: ${describe(error)}. Stop its workers and restore a backup, or repair it on the server.`,
    { cause: error },
  );
}

/**
 * The message of an error. Node tries both addresses of a name, and if both fail its error has a code but no message.
 */
function describe(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (typeof message === 'string' && message.length > 0) return message;
  return typeof code === 'string' ? code : errorMessage(error);
}

export function unavailable(place: string, error: unknown): RuntimeError {
  return new RuntimeError(
    'StoreUnavailable',
    `The store (${place}) does not answer: ${describe(error)}. Start the server, or check the network connection.`,
    { cause: error },
  );
}

/**
 * Explains why a store cannot be opened, and what to do. Errors that do not come from PostgreSQL are returned
 * unchanged.
 */
export function explainOpening(error: unknown, { place, schema }: PostgresAddress): unknown {
  const cause = isConnectionLost(error) ? error.cause : error;
  const found = `The store cannot be opened at ${place}: ${describe(cause)}.`;
  const refuse = (next: string) =>
    new RuntimeError('InvalidConfiguration', `${found} ${next}`, { cause: error });
  const state = sqlState(cause);
  if (state === undefined && !isConnectionLost(error)) return error;
  if (state === FULL) return explainServer(cause, `PostgreSQL at ${place}`);
  switch (state) {
    case '28P01':
    case '28000':
      return refuse(
        'Check user and password in EVERTHREAD_STORE, and what pg_hba.conf allows from this machine.',
      );
    case '3D000':
      return refuse('Create the database (createdb), or name another one in EVERTHREAD_STORE.');
    case '42501':
      return refuse(
        `The user needs the right to create in schema ${schema} (grant create on schema), or, if it does not exist, in the ` +
          'database; ?schema=NAME in EVERTHREAD_STORE names another schema.',
      );
  }
  if (isPasswordMissing(cause)) return refuse('Write the password into EVERTHREAD_STORE, or set PGPASSWORD.');
  if (isTls(cause)) {
    return refuse(
      'sslmode=verify-full checks the certificate, sslrootcert=FILE names the root certificate, sslmode=no-verify does ' +
        'not check it, sslmode=disable turns TLS off.',
    );
  }
  if (isFile(cause)) return refuse('Check the files that EVERTHREAD_STORE names.');
  return isConnectionLost(error) ? unavailable(`PostgreSQL at ${place}`, cause) : error;
}

function isPasswordMissing(error: unknown): boolean {
  return /password must be a string|password.*(missing|required)/i.test(errorMessage(error));
}

function isTls(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return (
    /\b(SSL|TLS|certificate)\b/i.test(errorMessage(error)) ||
    (typeof code === 'string' && /CERT|SSL|TLS/.test(code))
  );
}

function isFile(error: unknown): boolean {
  return ['ENOENT', 'EACCES'].includes((error as { code?: string }).code ?? '') && 'path' in Object(error);
}
