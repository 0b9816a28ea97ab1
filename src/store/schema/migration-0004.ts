/**
 * 0004: effects; sub-prompts, whose steps belong to a call of another step; handoffs; flow directives of hooks and
 * tools; scratch data of executions; reasoning. Released; never edited.
 */
import type { Kysely, Migration } from 'kysely';
import type { Tables } from './tables.ts';

/** One statement each: SQLite adds one column at a time. */
const COLUMNS = [
  ['threads', 'next_agent', 'text', undefined],
  ['threads', 'greeted', 'integer', 1],
  ['messages', 'reasoning', 'text', undefined],
  ['messages', 'prompt', 'text', undefined],
  ['executions', 'context', 'text', undefined],
  ['steps', 'directive', 'text', undefined],
  ['steps', 'parent_step', 'integer', undefined],
  ['steps', 'parent_idx', 'integer', undefined],
  ['steps', 'depth', 'integer', 0],
  ['steps', 'prompt', 'text', undefined],
  ['steps', 'arguments', 'text', undefined],
  ['tool_calls', 'message_id', 'text', undefined],
  ['tool_calls', 'directive', 'text', undefined],
] as const;

export const wholeState: Migration = {
  async up(db: Kysely<Tables>) {
    for (const [table, column, type, initial] of COLUMNS) {
      await db.schema
        .alterTable(table)
        .addColumn(column, type, (c) => (initial === undefined ? c : c.notNull().defaultTo(initial)))
        .execute();
    }
    await db.schema
      .createIndex('messages_by_execution')
      .on('messages')
      .columns(['thread_id', 'execution_id'])
      .execute();
    await db.schema
      .createTable('effects')
      .addColumn('thread_id', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('name', 'text', (c) => c.notNull())
      .addColumn('args', 'text', (c) => c.notNull())
      .addColumn('due_at', 'bigint', (c) => c.notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('state', 'text', (c) => c.notNull())
      .addColumn('attempts', 'integer', (c) => c.notNull())
      .addColumn('error', 'text')
      .addColumn('started_at', 'bigint')
      .addColumn('ended_at', 'bigint')
      .addPrimaryKeyConstraint('effects_key', ['thread_id', 'id'])
      .execute();
    await db.schema
      .createIndex('effects_by_time')
      .on('effects')
      .columns(['thread_id', 'state', 'due_at'])
      .execute();
  },
};
