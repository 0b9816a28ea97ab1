/**
 * The migrations of the schema: forward only, never edited once released. Kysely's migrator runs the missing ones in
 * one transaction, so that several processes may open a new store at once. Before a migration that reads rows is
 * written, the build without it must record a database (test/contract/upgrade/record.ts).
 */
import { type Kysely, type MigrationProvider, Migrator } from 'kysely';
import { RuntimeError } from '../../core/value/error.ts';
import { initial } from './migration-0001.ts';
import type { Tables } from './tables.ts';

export const provider: MigrationProvider = {
  getMigrations: async () => ({ '0001_release_0.1.0': initial }),
};

/** The first migration of every version before 0.1.0. */
const BEFORE_RELEASE = '0001_spine';

interface SchemaPlace {
  /** Name of the database, for errors. */
  readonly place: string;
  /** What a user deletes to begin anew. */
  readonly toDelete: string;
  /** Required if an engine has several: otherwise the migrator looks for its own tables in all of them. */
  readonly schema?: string;
}

/**
 * Brings the store to this build's schema, if it has another one or none. Safe to call from several processes at once.
 * Throws `InvalidConfiguration` for a store of a version before 0.1.0.
 */
export async function migrate(db: Kysely<Tables>, { place, toDelete, schema }: SchemaPlace): Promise<void> {
  // A new database has no tables.
  const applied = await listApplied(db, schema).catch((): string[] => []);
  if (applied.includes(BEFORE_RELEASE))
    throw new RuntimeError(
      'InvalidConfiguration',
      `The store (${place}) was made by a development version before 0.1.0 and cannot be read: delete ${toDelete}, and Temporal's development data (.everthread/temporal-*.db).`,
    );
  const wanted = Object.keys(await provider.getMigrations());
  // The migrator inspects every table and column first, which takes longer than the rest of opening a store.
  if (applied.length === wanted.length && wanted.every((name) => applied.includes(name))) return;
  const { error } = await new Migrator({ db, provider, migrationTableSchema: schema }).migrateToLatest();
  if (error) throw error;
}

/** The migrator's own table. */
interface Migrated {
  readonly kysely_migration: { readonly name: string };
}

async function listApplied(db: Kysely<Tables>, schema?: string): Promise<string[]> {
  const own = (schema === undefined ? db : db.withSchema(schema)) as unknown as Kysely<Migrated>;
  const rows = await own.selectFrom('kysely_migration').select('name').execute();
  return rows.map(({ name }) => name);
}
