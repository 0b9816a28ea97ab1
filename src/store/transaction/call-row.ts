/** The row of a tool call, identified in its thread by the number of its step and its index in that step. */
import type { Kysely, Selectable, Updateable } from 'kysely';
import type { Tables, ToolCallTable } from '../schema/tables.ts';
import { selectRows, updateRows } from './rows.ts';
import { statement } from './statement.ts';
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
  return selectRows(db, 'tool_calls', { thread_id: threadId, step, idx: index });
}

const selectCallRow = statement((db, threadId: string, step: number, index: number) =>
  selectCall(db, threadId, { step, index }).selectAll(),
);

/** Selects all columns of a call. */
export function selectWholeCall(db: Kysely<Tables>, threadId: string, { step, index }: CallKey) {
  return selectCallRow(db, threadId, step, index);
}

/** Returns all columns of a call; throws if there is no such call. */
export function findCall({ trx, threadId }: ThreadTransaction, key: CallKey): Promise<CallRow> {
  return selectWholeCall(trx, threadId, key).executeTakeFirstOrThrow();
}

type Change =
  | 'state'
  | 'attempt'
  | 'status'
  | 'started_at'
  | 'ended_at'
  | 'directive'
  | 'message_id'
  | 'waits'
  | 'first_seq'
  | 'signature'
  | 'outcome'
  | 'progress'
  | 'loop';

export async function updateCall(
  { trx, threadId }: ThreadTransaction,
  { step, idx }: Pick<CallRow, 'step' | 'idx'>,
  changes: Updateable<Pick<ToolCallTable, Change>>,
): Promise<void> {
  await updateRows(trx, 'tool_calls', { thread_id: threadId, step, idx }, changes);
}
