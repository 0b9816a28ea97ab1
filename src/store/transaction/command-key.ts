/**
 * The natural key of a workflow's command: its run, and the command's ordinal in that run. A command that is repeated,
 * because its answer or its worker was lost, is recognised by this key and returns the outcome of the first one.
 */
import type { Transaction } from 'kysely';
import type { Tables } from '../schema/tables.ts';
import { insertRows, selectRows } from './rows.ts';
import { statement } from './statement.ts';
import type { ThreadTransaction } from './thread-transaction.ts';

export interface CommandKey {
  readonly runId: string;
  readonly ordinal: number;
}

export interface CommandOutcome {
  readonly step: number | null;
  readonly swept: number;
}

const selectByKey = statement((db, threadId: string, runId: string, ordinal: number) =>
  selectRows(db, 'command_keys', { thread_id: threadId, run_id: runId, ordinal }).select(['step', 'swept']),
);

/** Selects the outcome of the first command with this key; one row at most. */
export function selectOutcome(trx: Transaction<Tables>, threadId: string, { runId, ordinal }: CommandKey) {
  return selectByKey(trx, threadId, runId, ordinal);
}

export async function findOutcome(
  { trx, threadId }: ThreadTransaction,
  key: CommandKey,
): Promise<CommandOutcome | undefined> {
  return selectOutcome(trx, threadId, key).executeTakeFirst();
}

export async function keepOutcome(
  thread: ThreadTransaction,
  key: CommandKey,
  outcome: CommandOutcome,
): Promise<void> {
  const { step, swept } = outcome;
  await insertRows(thread.trx, 'command_keys', [
    { thread_id: thread.threadId, run_id: key.runId, ordinal: key.ordinal, step, swept },
  ]);
}
