/**
 * The schema's history: forward only, never edited once released. Kysely's migrator runs what is missing in
 * one transaction, so that several processes may open a new store at once. Before a migration that reads rows is written, the build
 * without it records a database (test/contract/upgrade/record.ts).
 */
import { randomUUID } from 'node:crypto';
import { type Kysely, type Migration, type MigrationProvider, Migrator } from 'kysely';
import { valuesAndFiles } from './migration-0002.ts';
import { env } from './migration-0003.ts';
import { wholeState } from './migration-0004.ts';
import { family } from './migration-0005.ts';
import { strikes } from './migration-0006.ts';
import { withheldEnv } from './migration-0007.ts';
import { stepCounts } from './migration-0008.ts';
import { counters } from './migration-0009.ts';
import { waits } from './migration-0010.ts';
import { runContexts } from './migration-0011.ts';
import { actions } from './migration-0012.ts';
import { budgets } from './migration-0013.ts';
import { runs } from './migration-0014.ts';
import { namedExecutions } from './migration-0015.ts';
import { budgetTime } from './migration-0016.ts';
import { executionOrder } from './migration-0017.ts';
import { endedBudgets } from './migration-0019.ts';
import { shownWaits } from './migration-0020.ts';
import { loops } from './migration-0023.ts';
import { summaries } from './migration-0024.ts';
import { doors } from './migration-0025.ts';
import { keptChunks } from './migration-0027.ts';
import { actionLeases } from './migration-0028.ts';
import { requestsAsWaits } from './migration-0030.ts';
import { longTurns } from './migration-0031.ts';
import { teams } from './migration-0032.ts';
import { threadLists } from './migration-0033.ts';
import { unseenWaits } from './migration-0038.ts';
import { hiddenMessages } from './migration-0040.ts';
import { mcpLists } from './migration-0043.ts';
import { tasks } from './migration-0044.ts';
import { attachedExecutions } from './migration-0045.ts';
import { a2aTasks } from './migration-0052.ts';
import { taskSessions } from './migration-0055.ts';
import { producers } from './migration-0057.ts';
import { handedOverSteps } from './migration-0059.ts';
import type { Tables } from './tables.ts';

const spine: Migration = {
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
    // Whole indexes, not partial ones: with bound parameters SQLite cannot tell that a partial one would serve.
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

export const provider: MigrationProvider = {
  getMigrations: async () => ({
    '0001_spine': spine,
    '0002_values_and_files': valuesAndFiles,
    '0003_env': env,
    '0004_whole_state': wholeState,
    '0005_family': family,
    '0006_strikes': strikes,
    '0007_withheld_env': withheldEnv,
    '0008_step_counts': stepCounts,
    '0009_counters': counters,
    '0010_waits': waits,
    '0011_run_contexts': runContexts,
    '0012_actions': actions,
    '0013_budgets': budgets,
    '0014_runs': runs,
    '0015_named_executions': namedExecutions,
    '0016_budget_time': budgetTime,
    '0017_execution_order': executionOrder,
    '0019_ended_budgets': endedBudgets,
    '0020_shown_waits': shownWaits,
    '0023_loops': loops,
    '0024_summaries': summaries,
    '0025_doors': doors,
    '0027_kept_chunks': keptChunks,
    '0028_action_leases': actionLeases,
    '0030_requests_as_waits': requestsAsWaits,
    '0031_long_turns': longTurns,
    '0032_teams': teams,
    '0033_thread_lists': threadLists,
    '0038_unseen_waits': unseenWaits,
    '0040_hidden_messages': hiddenMessages,
    '0043_mcp_lists': mcpLists,
    '0044_tasks': tasks,
    '0045_attached_executions': attachedExecutions,
    '0052_a2a_tasks': a2aTasks,
    '0055_task_sessions': taskSessions,
    '0057_producers': producers,
    '0059_handed_over_steps': handedOverSteps,
  }),
};

/**
 * Whether the store has exactly this build's schema. Only the migrator can say what to do where it has not; but it looks at every
 * table and column first, which takes longer than all else of an opening.
 */
export async function isMigrated(db: Kysely<Tables>, schema?: string): Promise<boolean> {
  const own = (schema === undefined ? db : db.withSchema(schema)) as unknown as Kysely<Migrated>;
  const rows = await own.selectFrom('kysely_migration').select('name').execute();
  const names = new Set(rows.map(({ name }) => name));
  const wanted = Object.keys(await provider.getMigrations());
  return names.size === wanted.length && wanted.every((name) => names.has(name));
}

/** The migrator's own table. */
interface Migrated {
  readonly kysely_migration: { readonly name: string };
}

/**
 * Brings the store to this build's schema. Safe to call from several processes at once. `schema` must be named where an
 * engine has several: the migrator looks for its own tables in all of them.
 */
export async function migrate(db: Kysely<Tables>, schema?: string): Promise<void> {
  const { error } = await new Migrator({ db, provider, migrationTableSchema: schema }).migrateToLatest();
  if (error) throw error;
}
