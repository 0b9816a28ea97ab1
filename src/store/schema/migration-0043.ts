/** 0043: tool lists of MCP servers, one row for each server of a thread. */
import type { Kysely, Migration } from 'kysely';
import type { Tables } from './tables.ts';

export const mcpLists: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema
      .createTable('mcp_lists')
      .addColumn('thread_id', 'text', (c) => c.notNull())
      .addColumn('server', 'text', (c) => c.notNull())
      .addColumn('execution_id', 'text', (c) => c.notNull())
      .addColumn('tools', 'text')
      .addColumn('code', 'text')
      .addColumn('listed_at', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('mcp_lists_key', ['thread_id', 'server'])
      .execute();
  },
};
