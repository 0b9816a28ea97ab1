/**
 * Opens the store that an address (`EVERTHREAD_STORE`) names. `store.ts` is the store: the table of its commands. A
 * subject's folder has what they take and return, beside its tables (`…-record.ts`), and the commands with their parts,
 * each command one transaction or one read. Beside them:
 *
 *   folder    the project's private folder, and files in it
 *   crypto    keys, and what is encrypted with them
 *   schema    all tables, rows, migrations
 *   transaction   the transaction on a thread, and the parts of it that commands of several subjects use
 *   sqlite, search, postgres   what each engine needs; search runs in a separate thread
 */
import { accessSync, constants } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { RuntimeError } from '../core/value/error.ts';
import { LIMITS } from '../core/value/limit.ts';
import type { EncryptionKeys } from './crypto/encryption.ts';
import { findKeys } from './crypto/key-file.ts';
import { DEFAULT_STORE } from './folder/default-store.ts';
import { makeFolders, makePrivateFile, narrowFile } from './folder/private-files.ts';
import { makeProjectFolder, projectFolder } from './folder/project-folder.ts';
import { isPostgresAddress } from './postgres/address.ts';
import { explainOpening } from './sqlite/error.ts';
import type { ThreadStore } from './store.ts';

export interface OpenStoreOptions {
  /** If false, a PostgreSQL database without a store is refused with `ThreadNotFound`. */
  readonly create?: boolean;
  /**
   * The keys of `EVERTHREAD_ENCRYPTION_KEYS`; if absent, those of the project's key file, read when a variable is used.
   */
  readonly keys?: EncryptionKeys;
  /** The most model calls that one execution of a root causes in its family; 0: no ceiling. Default 2,000. */
  readonly familyCalls?: number;
  /** Days for which the store keeps requests to models; 0: not at all. Default: as long as their thread. */
  readonly requestDays?: number;
}

/**
 * Opens `sqlite:<path>[?synchronous=normal]`, a path being relative to the project's folder, or
 * `postgres://user:password@host/database[?schema=name&pool=10]`.
 * Throws `InvalidConfiguration` for anything else, and `StoreUnavailable` when a server does not answer.
 * @example
 * ```ts
 * const store = await openStore('sqlite:.everthread/threads.db', process.cwd());
 * const client = await RuntimeClient.connect({ store });
 * await client.close();
 * await store.close(); // a store that was passed in is its opener's to close
 * ```
 */
export async function openStore(
  address: string,
  projectDir: string,
  options: OpenStoreOptions = {},
): Promise<ThreadStore> {
  // Engine, driver and query builder are loaded when a store is opened: definitions import the package, which exports
  // this function, and open none.
  const keys = findKeys(options.keys, projectDir);
  const { familyCalls = LIMITS.familyCalls, requestDays = Number.POSITIVE_INFINITY } = options;
  if (isPostgresAddress(address)) {
    const { openPostgresStore } = await import('./postgres/open.ts');
    return openPostgresStore(address, { ...options, keys, familyCalls, requestDays });
  }
  const [scheme, rest] = splitScheme(address);
  if (scheme !== 'sqlite' || rest.length === 0) {
    // Not quoted in full: after a mistyped scheme there may be a password.
    const shown = address.includes('@') ? `${scheme}:…` : address;
    throw new RuntimeError(
      'InvalidConfiguration',
      `The store "${shown}" cannot be used: write sqlite:<path>, for example ${DEFAULT_STORE}, or ` +
        'postgres://user:password@host/database.',
    );
  }
  const [path, query = ''] = rest.split('?') as [string, string?];
  const file = resolve(projectDir, path);
  const synchronous = readSynchronous(query);
  makeStoreFile(file, projectDir);
  const { openSqliteStore } = await import('./sqlite/open.ts');
  return openSqliteStore({ path: file, synchronous }, { keys, familyCalls, requestDays });
}

/** Throws `InvalidConfiguration` for any other parameter: a mistyped one would be passed over. */
function readSynchronous(query: string): 'normal' | 'full' {
  const { synchronous = 'full', ...others } = Object.fromEntries(new URLSearchParams(query));
  if ((synchronous === 'normal' || synchronous === 'full') && Object.keys(others).length === 0)
    return synchronous;
  throw new RuntimeError(
    'InvalidConfiguration',
    `The store's address ends with "?${query}": only ?synchronous=normal or ?synchronous=full may stand there.`,
  );
}

/**
 * Creates the file for its owner only; SQLite gives its log and its index the same rights. The rights of a folder
 * outside the project are not changed.
 */
function makeStoreFile(file: string, projectDir: string): void {
  try {
    if (dirname(file) === projectFolder(resolve(projectDir))) makeProjectFolder(projectDir);
    else makeFolders(dirname(file));
    makePrivateFile(file);
    accessSync(file, constants.R_OK | constants.W_OK);
    for (const suffix of ['-wal', '-shm']) narrowFile(file + suffix);
  } catch (error) {
    throw explainOpening(error, file);
  }
}

function splitScheme(address: string): [string, string] {
  const colon = address.indexOf(':');
  return colon < 0 ? ['', ''] : [address.slice(0, colon), address.slice(colon + 1)];
}
