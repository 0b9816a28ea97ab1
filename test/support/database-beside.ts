/** Opens the database of a store directly, for what the store's port cannot do. The caller must destroy it. */
import { resolve } from 'node:path';
import { Kysely, type LogConfig, PostgresDialect } from 'kysely';
import { isPostgresAddress, readPostgresAddress } from '../../src/store/postgres/address.ts';
import { StorePool } from '../../src/store/postgres/pool.ts';
import type { Tables } from '../../src/store/schema/tables.ts';
import { NodeSqliteDialect } from '../../src/store/sqlite/dialect.ts';

/** `address` and `folder`: see `openStore`. `log` receives each statement. */
export function openBeside(address: string, folder = '', log?: LogConfig): Kysely<Tables> {
  const told = log ? { log } : {};
  if (isPostgresAddress(address)) {
    const pool = new StorePool({ ...readPostgresAddress(address), poolSize: 1 }, { patient: true });
    return new Kysely<Tables>({ ...told, dialect: new PostgresDialect({ pool }) });
  }
  const [path = ''] = address.slice('sqlite:'.length).split('?');
  return new Kysely<Tables>({
    ...told,
    dialect: new NodeSqliteDialect({ path: resolve(folder, path), synchronous: 'normal' }),
  });
}
