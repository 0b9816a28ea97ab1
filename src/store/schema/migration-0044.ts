/** 0044: tasks, the steps of their loops, and the manifests that they have run with. */
import type { Kysely, Migration } from 'kysely';
import type { Tables } from './tables.ts';

export const tasks: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema
      .createTable('tasks')
      .addColumn('thread_id', 'text', (c) => c.primaryKey())
      .addColumn('name', 'text', (c) => c.notNull())
      .addColumn('spec', 'text', (c) => c.notNull())
      .addColumn('scenario_id', 'text')
      .addColumn('manifest', 'text')
      .addColumn('status', 'text', (c) => c.notNull())
      .addColumn('verdict', 'text')
      .addColumn('requirements', 'text', (c) => c.notNull())
      .addColumn('answers', 'text', (c) => c.notNull())
      .addColumn('preflight', 'text', (c) => c.notNull())
      .addColumn('steps', 'integer', (c) => c.notNull())
      .addColumn('spent', 'double precision', (c) => c.notNull())
      .addColumn('worked', 'bigint', (c) => c.notNull())
      .addColumn('active_since', 'bigint')
      .addColumn('errors', 'text', (c) => c.notNull())
      .addColumn('records', 'text')
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('ended_at', 'bigint')
      .execute();
    await db.schema.createIndex('tasks_in_order').on('tasks').columns(['created_at', 'thread_id']).execute();
    await db.schema
      .createIndex('tasks_by_status')
      .on('tasks')
      .columns(['status', 'created_at', 'thread_id'])
      .execute();
    await db.schema
      .createIndex('tasks_by_name')
      .on('tasks')
      .columns(['name', 'created_at', 'thread_id'])
      .execute();
    await db.schema
      .createTable('task_steps')
      .addColumn('thread_id', 'text', (c) => c.notNull())
      .addColumn('step', 'integer', (c) => c.notNull())
      .addColumn('state', 'text', (c) => c.notNull())
      .addColumn('evals', 'text', (c) => c.notNull())
      .addColumn('fingerprint', 'text', (c) => c.notNull())
      .addColumn('score', 'double precision')
      .addColumn('decision', 'text')
      .addColumn('action', 'text')
      .addColumn('act', 'text')
      .addColumn('attempt', 'text')
      .addColumn('outcome', 'text')
      .addColumn('ok', 'integer', (c) => c.notNull())
      .addColumn('cost', 'double precision', (c) => c.notNull())
      .addColumn('started_at', 'bigint', (c) => c.notNull())
      .addColumn('act_started_at', 'bigint')
      .addColumn('ended_at', 'bigint')
      .addPrimaryKeyConstraint('task_steps_key', ['thread_id', 'step'])
      .execute();
    await db.schema
      .createTable('manifests')
      .addColumn('hash', 'text', (c) => c.primaryKey())
      .addColumn('document', 'text', (c) => c.notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .execute();
    // The next idempotency key of an action depends on how often it has succeeded.
    await db.schema
      .createIndex('task_steps_of_action')
      .on('task_steps')
      .columns(['thread_id', 'action', 'ok'])
      .execute();
  },
};
