/**
 * 0033: indexes for lists of threads in each order and by each condition; tags; and threads whose content was deleted,
 * of which only the row is left.
 */
import { type Kysely, type Migration, sql } from 'kysely';
import type { Tables } from './tables.ts';

export const threadLists: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema.alterTable('threads').addColumn('tags', 'text').execute();
    await db.schema.alterTable('threads').addColumn('deleted_at', 'bigint').execute();
    await db.schema
      .createTable('thread_tags')
      .addColumn('thread_id', 'text', (column) => column.notNull())
      .addColumn('tag', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('thread_tags_key', ['thread_id', 'tag'])
      .execute();
    await db.schema
      .createIndex('thread_tags_in_order')
      .on('thread_tags')
      .columns(['tag', 'created_at', 'thread_id'])
      .execute();
    await db.schema.dropIndex('threads_by_update').execute();
    const make = (name: string, columns: readonly string[]) =>
      db.schema
        .createIndex(`threads_${name}`)
        .on('threads')
        .columns([...columns]);
    await make('in_order', ['updated_at', 'id']).execute();
    await make('by_creation', ['created_at', 'id']).execute();
    await make('of_agent', ['agent', 'updated_at', 'id']).execute();
    // Partial: without users, organisations and subagents they have no entries.
    for (const [name, column] of [
      ['of_user', 'user_id'],
      ['of_organization', 'organization_id'],
      ['of_parent', 'parent_id'],
    ] as const)
      await make(name, [column, 'updated_at', 'id'])
        .where(sql<boolean>`${sql.ref(column)} IS NOT NULL`)
        .execute();
    // Partial: most threads are idle or terminated, and only the others have entries.
    await make('not_at_rest', ['status', 'updated_at', 'id'])
      .where(sql<boolean>`status <> 'idle' AND status <> 'terminated'`)
      .execute();
  },
};
