/** 0025: tokens of the HTTP API. */
import type { Kysely, Migration } from 'kysely';
import type { Tables } from './tables.ts';

export const doors: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema
      .createTable('api_tokens')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('digest', 'text', (c) => c.notNull().unique())
      .addColumn('name', 'text')
      .addColumn('scopes', 'text', (c) => c.notNull())
      .addColumn('user_id', 'text')
      .addColumn('organization_id', 'text')
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('expires_at', 'bigint')
      .addColumn('revoked_at', 'bigint')
      .execute();
  },
};
