/** The row of a tool call, identified in its thread by the number of its step and its index in that step. */
import type { Kysely, Selectable, Updateable } from 'kysely';
import type { Tables, ToolCallTable } from '../schema/tables.ts';
import { selectRow } from './rows.ts';
import type { ThreadTransaction } from './thread-transaction.ts';

/** States of a call that has no result yet. */
export const OPEN_CALL = [
  'scheduled',
  'started',
  'asked',
] as const satisfies readonly ToolCallTable['state'][];

export type CallRow = Selectable<ToolCallTable>;

export interface CallKey {
  readonly step: number;
  readonly index: number;
}

export function selectCall(db: Kysely<Tables>, threadId: string, { step, index }: CallKey) {
  return selectRow(db, 'tool_calls', { thread_id: threadId, step, idx: index });
}

/** The thread's calls, each with its step. */
export function selectStepCalls(db: Kysely<Tables>, threadId: string) {
  return db
    .selectFrom('tool_calls')
    .innerJoin('steps', (join) =>
      join.onRef('steps.thread_id', '=', 'tool_calls.thread_id').onRef('steps.step', '=', 'tool_calls.step'),
    )
    .where('tool_calls.thread_id', '=', threadId);
}

/** The calls of the newest execution; the first step bounds the read, however long the thread is. */
export function selectExecutionCalls(
  { trx, row }: Pick<ThreadTransaction, 'trx' | 'row'>,
  executionId: string,
) {
  return selectStepCalls(trx, row.id)
    .where('tool_calls.step', '>=', row.asked_from)
    .where('steps.execution_id', '=', executionId);
}

/** Throws if there is no such call. */
export function readCall(thread: ThreadTransaction, { step, index }: CallKey): Promise<CallRow> {
  return thread.read('tool_calls', { step, idx: index });
}

export function updateCall(
  thread: ThreadTransaction,
  { step, idx }: Pick<CallRow, 'step' | 'idx'>,
  changes: Updateable<ToolCallTable>,
): Promise<void> {
  return thread.update('tool_calls', { step, idx }, changes);
}
