/** 0003: variables (definitions §16), and an index of threads by their root. Released; never edited. */
import type { Kysely, Migration } from 'kysely';
import type { Tables } from './tables.ts';

export const env: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema
      .createTable('env_values')
      .addColumn('scope', 'text', (c) => c.notNull())
      .addColumn('owner', 'text', (c) => c.notNull())
      .addColumn('name', 'text', (c) => c.notNull())
      .addColumn('type', 'text', (c) => c.notNull())
      .addColumn('key_id', 'text', (c) => c.notNull())
      .addColumn('value', 'text', (c) => c.notNull())
      .addColumn('updated_at', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('env_values_key', ['scope', 'owner', 'name'])
      .execute();
    await db.schema.createIndex('threads_by_root').on('threads').column('root_id').execute();
  },
};
