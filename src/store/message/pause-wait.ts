/**
 * Pauses an open execution before its next model step until a person lets it go on: a wait, found by its key, so that a
 * repeated check finds the same one. If it is approved, or a message comes from outside, the same execution goes on; if
 * it is refused, the execution ends.
 */
import type { PausedFailures } from '../../core/guard/failure.ts';
import type { StoredError } from '../../core/thread/step.ts';
import { findRow } from '../transaction/rows.ts';
import type { ThreadRow, ThreadTransaction } from '../transaction/thread-transaction.ts';
import type { WaitRow } from '../wait/wait-row.ts';
import { type DueRow, type InputWish, wishOf } from './drain.ts';

/** What the next step would drain. */
export interface NextInput extends InputWish {
  readonly rows: readonly (Pick<DueRow, 'kind' | 'own'> & { readonly item: { readonly role: string } })[];
}

/** The open execution that is checked, and the input of its next step. */
export interface AskedRounds {
  readonly input: NextInput;
  readonly side: ThreadRow['side'];
  readonly executionId: string;
}

/** True if a message from outside wants an answer. */
export function hasOutsideMessage({ rows }: NextInput): boolean {
  const outside = rows.flatMap(({ kind, own, item: { role } }) => (own === 0 ? [{ kind, role }] : []));
  return wishOf(outside, true).wantsAnswer;
}

interface PauseReason {
  readonly key: string;
  /** Set if the rounds are used up. */
  readonly rounds?: { readonly round: number; readonly maxRounds: number };
  readonly failures?: PausedFailures;
}

export type RoundsVerdict =
  | { readonly do: 'end'; readonly error: StoredError }
  /** `spokenTo`: the open wait that a message from outside has ended. */
  | (PauseReason & { readonly do: 'pause'; readonly spokenTo?: string });

/** Undefined if the step may begin. */
export async function judgePause(
  { trx, row }: Pick<ThreadTransaction, 'trx' | 'row'>,
  input: NextInput,
  { error, ...reason }: PauseReason & { readonly error: StoredError },
): Promise<RoundsVerdict | undefined> {
  const wait = await findRow(trx, 'waits', { thread_id: row.id, key: reason.key });
  const isOver = wait !== undefined && wait.state !== 'open';
  if (isOver) return isApproved(wait) || hasOutsideMessage(input) ? undefined : { do: 'end', error };
  if (hasOutsideMessage(input)) return wait && { do: 'pause', ...reason, spokenTo: wait.id };
  return { do: 'pause', ...reason };
}

function isApproved({ state, answer }: WaitRow): boolean {
  return state === 'answered' && answer !== null && JSON.parse(answer).approved === true;
}
