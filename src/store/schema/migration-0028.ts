/**
 * 0028: until when an action of code belongs to its process; null for the call of a step, and for an action that is
 * over.
 */
import type { Kysely, Migration } from 'kysely';
import type { Tables } from './tables.ts';

export const actionLeases: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema.alterTable('actions').addColumn('lease_until', 'bigint').execute();
    await db.schema.createIndex('actions_by_lease').on('actions').columns(['state', 'lease_until']).execute();
  },
};
