/**
 * The migrations of the schema: forward only, never edited once released. Kysely's migrator runs the missing ones in
 * one transaction, so that several processes may open a new store at once. Before a migration that reads rows is
 * written, the build without it must record a database (test/contract/upgrade/record.ts).
 */
import { type Kysely, type MigrationProvider, Migrator } from 'kysely';
import { RuntimeError } from '../../core/value/error.ts';
import { initial, schemaDigest } from './migration-0001.ts';
import type { Tables } from './tables.ts';

export const provider: MigrationProvider = {
  getMigrations: async () => ({ '0001_release_0.1.0': initial }),
};

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
 * Throws `InvalidConfiguration` for a store of a version before 0.1.0, and for one that a newer version has changed.
 */
export async function migrate(db: Kysely<Tables>, { place, toDelete, schema }: SchemaPlace): Promise<void> {
  // A new database has no tables.
  const applied = await listApplied(db, schema).catch((): string[] => []);
  const wanted = Object.keys(await provider.getMigrations());
  if (applied.length > 0 && (await readDigest(db, schema)) !== schemaDigest)
    throw new RuntimeError(
      'InvalidConfiguration',
      `The store (${place}) was made by a development version before 0.1.0 and cannot be read: delete ${toDelete}, and Temporal's development data (.everthread/temporal-*.db).`,
    );
  const unknown = applied.find((name) => !wanted.includes(name));
  if (unknown !== undefined)
    throw new RuntimeError(
      'InvalidConfiguration',
      `The store (${place}) was changed by a newer version of Everthread (its migration "${unknown}" is not in this one): run that version.`,
    );
  // The migrator inspects every table and column first, which takes longer than the rest of opening a store.
  if (applied.length === wanted.length) return;
  const { error } = await new Migrator({ db, provider, migrationTableSchema: schema }).migrateToLatest();
  if (error) throw error;
}

interface MigratedTables {
  readonly kysely_migration: { readonly name: string };
  readonly meta: Tables['meta'];
}

const inSchema = (db: Kysely<Tables>, schema?: string) =>
  (schema === undefined ? db : db.withSchema(schema)) as unknown as Kysely<MigratedTables>;

async function listApplied(db: Kysely<Tables>, schema?: string): Promise<string[]> {
  const rows = await inSchema(db, schema).selectFrom('kysely_migration').select('name').execute();
  return rows.map(({ name }) => name);
}

async function readDigest(db: Kysely<Tables>, schema?: string): Promise<string | undefined> {
  const meta = inSchema(db, schema).selectFrom('meta');
  return (await meta.select('value').where('key', '=', 'schema').executeTakeFirst())?.value;
}
