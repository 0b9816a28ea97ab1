/**
 * The migrations of the schema: forward only, never edited once released. Kysely's migrator runs the missing ones in
 * one transaction, so that several processes may open a new store at once. Before a migration that reads rows is
 * written, the build without it must record a database (test/contract/upgrade/record.ts).
 */
import { type Kysely, type MigrationProvider, Migrator } from 'kysely';
import { spine } from './migration-0001.ts';
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
import { wholeMoney } from './migration-0060.ts';
import { modelCounts } from './migration-0062.ts';
import { answerParts } from './migration-0064.ts';
import { memoryNotes } from './migration-0065.ts';
import { promotedEnv } from './migration-0066.ts';
import { sentContents } from './migration-0067.ts';
import { grants } from './migration-0068.ts';
import { itemDigests } from './migration-0069.ts';
import type { Tables } from './tables.ts';

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
    '0060_whole_money': wholeMoney,
    '0062_model_counts': modelCounts,
    '0064_answer_parts': answerParts,
    '0065_memory_notes': memoryNotes,
    '0066_promoted_env': promotedEnv,
    '0067_sent_contents': sentContents,
    '0068_grants': grants,
    '0069_item_digests': itemDigests,
  }),
};

/**
 * True if the store has exactly this build's schema. If not, only the migrator can decide what to do; but it first
 * inspects every table and column, which takes longer than the rest of opening a store.
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
 * Brings the store to this build's schema. Safe to call from several processes at once. `schema` must be given if an
 * engine has several: otherwise the migrator looks for its own tables in all of them.
 */
export async function migrate(db: Kysely<Tables>, schema?: string): Promise<void> {
  const { error } = await new Migrator({ db, provider, migrationTableSchema: schema }).migrateToLatest();
  if (error) throw error;
}
