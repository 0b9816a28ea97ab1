/**
 * The row of a step, identified in its thread by its number.
 *
 * The row of a tool call, identified in its thread by the number of its step and its index in that step.
 *
 * The messages of a step: its answer, the messages with queued tools, the results of its calls. They are found by the
 * step's execution and its number, for which there is an index; by the number alone the whole thread would be searched.
 * Sort them in code: with an `order by`, SQLite would scan the whole thread instead of using that index.
 */
import type { Kysely, Selectable, Updateable } from 'kysely';
import type { StepTable, Tables, ToolCallTable } from '../schema/tables.ts';
import type { CallKey } from './from-run.ts';
import { selectRow, selectRows } from './rows.ts';
import type { ThreadTransaction } from './thread-transaction.ts';

export type StepRow = Selectable<StepTable>;

export function selectStep(db: Kysely<Tables>, threadId: string, step: number) {
  return selectRow(db, 'steps', { thread_id: threadId, step });
}

/** States of a call that has no result yet. */
export const OPEN_CALL = [
  'scheduled',
  'started',
  'asked',
  'finished',
] as const satisfies readonly ToolCallTable['state'][];

export type CallRow = Selectable<ToolCallTable>;

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

export function selectStepMessages(db: Kysely<Tables>, threadId: string, step: number) {
  const key = { thread_id: threadId, step };
  const execution = selectRows(db, 'steps', key).select('execution_id');
  return selectRows(db, 'messages', key).where('execution_id', '=', execution);
}

export const byTime = (
  { created_at: a }: { readonly created_at: number },
  { created_at: b }: { readonly created_at: number },
) => a - b;
