/**
 * 0002: the values and the files of threads (runtime §14, definitions §18). Released; never edited.
 * `bytea` is PostgreSQL's own type; SQLite stores bytes unchanged in a column whose type it does not know.
 */
import type { Kysely, Migration } from 'kysely';
import type { Tables } from './tables.ts';

export const valuesAndFiles: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema
      .createTable('thread_values')
      .addColumn('thread_id', 'text', (c) => c.notNull())
      .addColumn('key', 'text', (c) => c.notNull())
      .addColumn('value', 'text', (c) => c.notNull())
      .addColumn('updated_at', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('thread_values_key', ['thread_id', 'key'])
      .execute();
    await db.schema
      .createTable('thread_files')
      .addColumn('thread_id', 'text', (c) => c.notNull())
      .addColumn('path', 'text', (c) => c.notNull())
      .addColumn('parent', 'text', (c) => c.notNull())
      .addColumn('kind', 'text', (c) => c.notNull())
      .addColumn('mime_type', 'text', (c) => c.notNull())
      .addColumn('size', 'bigint', (c) => c.notNull())
      .addColumn('blob_id', 'text')
      .addColumn('metadata', 'text')
      .addColumn('width', 'integer')
      .addColumn('height', 'integer')
      .addColumn('thumbnail', 'bytea')
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('updated_at', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('thread_files_key', ['thread_id', 'path'])
      .execute();
    await db.schema
      .createIndex('thread_files_by_parent')
      .on('thread_files')
      .columns(['thread_id', 'parent'])
      .execute();
    // The number and the size of a thread's files are read from this index alone.
    await db.schema
      .createIndex('thread_files_by_size')
      .on('thread_files')
      .columns(['thread_id', 'kind', 'size'])
      .execute();
    await db.schema
      .createTable('blobs')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('hash', 'text', (c) => c.notNull().unique())
      .addColumn('size', 'bigint', (c) => c.notNull())
      .addColumn('names', 'integer', (c) => c.notNull())
      .execute();
    await db.schema
      .createTable('blob_chunks')
      .addColumn('blob_id', 'text', (c) => c.notNull())
      .addColumn('idx', 'integer', (c) => c.notNull())
      .addColumn('data', 'bytea', (c) => c.notNull())
      .addPrimaryKeyConstraint('blob_chunks_key', ['blob_id', 'idx'])
      .execute();
    await db.schema
      .createTable('blob_uploads')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('begun_at', 'bigint', (c) => c.notNull())
      .execute();
  },
};
