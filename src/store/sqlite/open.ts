/** Opens a store in a SQLite file. */
import { Kysely } from 'kysely';
import { bindStore, type Engine } from '../bind-store.ts';
import { migrate } from '../schema/migrations.ts';
import type { Tables } from '../schema/tables.ts';
import type { ThreadStore } from '../store.ts';
import { runOnce } from '../transaction/context.ts';
import { sqliteChanges } from './change-order.ts';
import { NodeSqliteDialect, type SqliteOptions } from './dialect.ts';

/** Opens a SQLite store and brings its schema up to date. */
export async function openSqliteStore(
  options: SqliteOptions,
  { keys, familyCalls, requestDays }: Pick<Engine, 'keys' | 'familyCalls' | 'requestDays'>,
): Promise<ThreadStore> {
  const dialect = new NodeSqliteDialect(options);
  const db = new Kysely<Tables>({ dialect });
  try {
    const { path } = options;
    const place = `SQLite at ${path}`;
    await migrate(db, { place, toDelete: 'that file, with -wal and -shm beside it' });
    const store = await bindStore(db, {
      place,
      run: runOnce,
      keys,
      familyCalls,
      requestDays,
      rowLocks: false,
      order: sqliteChanges,
      relax: async () => dialect.relax(),
      clock: async () => Date.now() * 1000,
    });
    return { ...store, ended: dialect.ended };
  } catch (error) {
    await db.destroy().catch(() => undefined);
    throw error;
  }
}
