/** 0001: the store's own id, threads and their runs, the queue, steps with their calls, messages and events. */
import { randomUUID } from 'node:crypto';
import type { Kysely, Migration } from 'kysely';
import type { Tables } from './tables.ts';

export const spine: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema
      .createTable('meta')
      .addColumn('key', 'text', (c) => c.primaryKey())
      .addColumn('value', 'text', (c) => c.notNull())
      .execute();
    await db.insertInto('meta').values({ key: 'store_id', value: randomUUID() }).execute();
    await db.schema
      .createTable('threads')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('agent', 'text', (c) => c.notNull())
      .addColumn('user_id', 'text')
      .addColumn('arguments', 'text', (c) => c.notNull())
      .addColumn('status', 'text', (c) => c.notNull())
      .addColumn('stop_reason', 'text')
      .addColumn('last_error', 'text')
      .addColumn('run_id', 'text', (c) => c.notNull())
      .addColumn('parent_id', 'text')
      .addColumn('root_id', 'text', (c) => c.notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('updated_at', 'bigint', (c) => c.notNull())
      .addColumn('terminated_at', 'bigint')
      .addColumn('event_seq', 'bigint', (c) => c.notNull())
      .addColumn('clock', 'bigint', (c) => c.notNull())
      .addColumn('last_step', 'integer', (c) => c.notNull())
      .addColumn('last_position', 'bigint', (c) => c.notNull())
      .addColumn('turn_open', 'integer', (c) => c.notNull())
      .addColumn('answer_due', 'integer', (c) => c.notNull())
      .execute();
    await db.schema.createIndex('threads_by_update').on('threads').column('updated_at').execute();
    await db.schema
      .createTable('thread_runs')
      .addColumn('thread_id', 'text', (c) => c.notNull())
      .addColumn('run_id', 'text', (c) => c.notNull())
      .addColumn('registered_at', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('thread_runs_key', ['thread_id', 'run_id'])
      .execute();
    await db.schema
      .createTable('items')
      .addColumn('thread_id', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('kind', 'text', (c) => c.notNull())
      .addColumn('payload', 'text', (c) => c.notNull())
      .addColumn('state', 'text', (c) => c.notNull())
      .addColumn('position', 'bigint')
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('items_key', ['thread_id', 'id'])
      .execute();
    // Full indexes, not partial ones: with bound parameters SQLite cannot tell that a partial one could be used.
    await db.schema
      .createIndex('items_by_state')
      .on('items')
      .columns(['thread_id', 'state', 'position'])
      .execute();
    await db.schema
      .createTable('messages')
      .addColumn('thread_id', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('role', 'text', (c) => c.notNull())
      .addColumn('content', 'text')
      .addColumn('name', 'text')
      .addColumn('tool_calls', 'text')
      .addColumn('tool_call_id', 'text')
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('parent_id', 'text')
      .addColumn('depth', 'integer', (c) => c.notNull())
      .addColumn('silent', 'integer', (c) => c.notNull())
      .addColumn('metadata', 'text', (c) => c.notNull())
      .addColumn('attachments', 'text')
      .addColumn('status', 'text', (c) => c.notNull())
      .addColumn('tool_status', 'text')
      .addColumn('execution_id', 'text')
      .addColumn('step', 'integer')
      .addPrimaryKeyConstraint('messages_key', ['thread_id', 'id'])
      .execute();
    await db.schema
      .createIndex('messages_in_order')
      .unique()
      .on('messages')
      .columns(['thread_id', 'created_at'])
      .execute();
    await db.schema
      .createTable('executions')
      .addColumn('thread_id', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('started_at', 'bigint', (c) => c.notNull())
      .addColumn('ended_at', 'bigint')
      .addColumn('stop_reason', 'text')
      .addPrimaryKeyConstraint('executions_key', ['thread_id', 'id'])
      .execute();
    await db.schema
      .createIndex('executions_open')
      .on('executions')
      .columns(['thread_id', 'ended_at'])
      .execute();
    await db.schema
      .createTable('steps')
      .addColumn('thread_id', 'text', (c) => c.notNull())
      .addColumn('step', 'integer', (c) => c.notNull())
      .addColumn('execution_id', 'text', (c) => c.notNull())
      .addColumn('kind', 'text', (c) => c.notNull())
      .addColumn('state', 'text', (c) => c.notNull())
      .addColumn('attempt', 'integer', (c) => c.notNull())
      .addColumn('message_id', 'text')
      .addColumn('model', 'text')
      .addColumn('text', 'integer', (c) => c.notNull())
      .addColumn('first_seq', 'bigint', (c) => c.notNull())
      .addColumn('opened_at', 'bigint', (c) => c.notNull())
      .addColumn('closed_at', 'bigint')
      .addPrimaryKeyConstraint('steps_key', ['thread_id', 'step'])
      .execute();
    await db.schema.createIndex('steps_by_state').on('steps').columns(['thread_id', 'state']).execute();
    await db.schema
      .createTable('command_keys')
      .addColumn('thread_id', 'text', (c) => c.notNull())
      .addColumn('run_id', 'text', (c) => c.notNull())
      .addColumn('ordinal', 'integer', (c) => c.notNull())
      .addColumn('step', 'integer')
      .addColumn('swept', 'integer', (c) => c.notNull())
      .addPrimaryKeyConstraint('command_keys_key', ['thread_id', 'run_id', 'ordinal'])
      .execute();
    await db.schema
      .createTable('tool_calls')
      .addColumn('thread_id', 'text', (c) => c.notNull())
      .addColumn('step', 'integer', (c) => c.notNull())
      .addColumn('idx', 'integer', (c) => c.notNull())
      .addColumn('call_id', 'text', (c) => c.notNull())
      .addColumn('name', 'text', (c) => c.notNull())
      .addColumn('arguments', 'text', (c) => c.notNull())
      .addColumn('origin', 'text', (c) => c.notNull())
      .addColumn('state', 'text', (c) => c.notNull())
      .addColumn('attempt', 'text')
      .addColumn('status', 'text')
      .addColumn('started_at', 'bigint')
      .addColumn('ended_at', 'bigint')
      .addPrimaryKeyConstraint('tool_calls_key', ['thread_id', 'step', 'idx'])
      .execute();
    await db.schema
      .createIndex('tool_calls_by_state')
      .on('tool_calls')
      .columns(['thread_id', 'state'])
      .execute();
    await db.schema
      .createTable('model_calls')
      .addColumn('thread_id', 'text', (c) => c.notNull())
      .addColumn('step', 'integer', (c) => c.notNull())
      .addColumn('attempt', 'integer', (c) => c.notNull())
      .addColumn('call', 'integer', (c) => c.notNull())
      .addColumn('model', 'text', (c) => c.notNull())
      .addColumn('model_id', 'text', (c) => c.notNull())
      .addColumn('state', 'text', (c) => c.notNull())
      .addColumn('error', 'text')
      .addColumn('usage', 'text')
      .addColumn('cost', 'double precision')
      .addColumn('started_at', 'bigint', (c) => c.notNull())
      .addColumn('first_token_at', 'bigint')
      .addColumn('ended_at', 'bigint')
      .addPrimaryKeyConstraint('model_calls_key', ['thread_id', 'step', 'attempt', 'call'])
      .execute();
    await db.schema
      .createTable('events')
      .addColumn('thread_id', 'text', (c) => c.notNull())
      .addColumn('seq', 'bigint', (c) => c.notNull())
      .addColumn('at', 'bigint', (c) => c.notNull())
      .addColumn('type', 'text', (c) => c.notNull())
      .addColumn('step', 'integer')
      .addColumn('attempt', 'integer')
      .addColumn('data', 'text', (c) => c.notNull())
      .addPrimaryKeyConstraint('events_key', ['thread_id', 'seq'])
      .execute();
  },
};
