/**
 * The natural key of a workflow's command: its run, and the command's ordinal in that run. A command that is repeated,
 * because its answer or its worker was lost, is recognised by this key and returns the outcome of the first one.
 */
import type { Transaction } from 'kysely';
import type { Tables } from '../schema/tables.ts';
import { selectRow } from './rows.ts';
import type { ThreadTransaction } from './thread-transaction.ts';

export interface CommandKey {
  readonly runId: string;
  readonly ordinal: number;
}

export interface CommandOutcome {
  readonly step: number | null;
  readonly swept: number;
}

/** Selects the outcome of the first command with this key; one row at most. */
export function selectOutcome(trx: Transaction<Tables>, threadId: string, { runId, ordinal }: CommandKey) {
  return selectRow(trx, 'command_keys', { thread_id: threadId, run_id: runId, ordinal });
}

export async function storeOutcome(
  thread: ThreadTransaction,
  { runId, ordinal }: CommandKey,
  { step, swept }: CommandOutcome,
): Promise<void> {
  await thread.insert('command_keys', { run_id: runId, ordinal, step, swept });
}
