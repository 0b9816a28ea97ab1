/**
 * Whether a turn has used up its rounds (core/guard/round.ts). As with limits (step-limit.ts), the step asks it under its thread's lock, and hooks
 * are told beforehand what it will say.
 * R1. Rounds are the model steps since the newest message from outside, which brings new ones.
 * R2. A subagent's pause is a wait, found by its execution and by where its rounds began: whoever asks again finds the same one. What is
 *     approved goes on as the same execution, and so does what is spoken to; what is refused ends as a root thread does.
 */
import { type RoundLimits, toRoundsError } from '../../../core/guard/round.ts';
import type { StoredError } from '../../../core/thread/step.ts';
import { countAnswered } from '../base/step-count.ts';
import type { ThreadRow, ThreadTransaction } from '../base/thread-transaction.ts';
import type { WaitRow } from '../wait/wait-row.ts';
import { type DueRow, type InputWish, wishOf } from './drain.ts';

export interface KeptRounds {
  /** How many model steps the execution had when they began. */
  readonly from: number;
  readonly max: RoundLimits;
}

export type RoundsVerdict =
  | { readonly do: 'end'; readonly error: StoredError }
  | { readonly do: 'pause'; readonly round: number; readonly max: number; readonly spokenTo?: string };

export const readKept = ({ rounds }: Pick<ThreadRow, 'rounds'>) =>
  rounds === null ? undefined : (JSON.parse(rounds) as KeptRounds);

/** What the next step would take in. */
export interface NextInput extends InputWish {
  readonly rows: readonly (Pick<DueRow, 'kind' | 'own'> & { readonly item: { readonly role: string } })[];
}

/** R1: it brings new ones. */
export function isSpokenTo({ rows }: NextInput): boolean {
  const outside = rows.flatMap(({ kind, own, item: { role } }) => (own === 0 ? [{ kind, role }] : []));
  return wishOf(outside, true).wantsAnswer;
}

/** Of an execution that is open. */
export interface AskedRounds {
  readonly input: NextInput;
  readonly side: ThreadRow['side'];
  readonly executionId: string;
}

/** Whether one more model step of an open execution may begin; undefined where it may. */
export async function judgeRounds(
  { trx, row }: Pick<ThreadTransaction, 'trx' | 'row'>,
  { input, side, executionId }: AskedRounds,
): Promise<RoundsVerdict | undefined> {
  const kept = readKept(row);
  const max = kept?.max[side];
  const asksModel = !input.hasTools && (row.turn_open === 1 || input.wantsAnswer);
  if (!kept || max === undefined || !asksModel) return undefined;
  const { a, b } = await countAnswered(trx, row);
  const round = a + b - kept.from;
  if (round < max) return undefined;
  const error = toRoundsError(max);
  if (row.parent_id === null) return isSpokenTo(input) ? undefined : { do: 'end', error };
  const wait = await findPause({ trx, row }, executionId, kept);
  const isOver = wait !== undefined && wait.state !== 'open';
  if (isOver) return isApproved(wait) || isSpokenTo(input) ? undefined : { do: 'end', error };
  if (isSpokenTo(input)) return wait && { do: 'pause', round, max, spokenTo: wait.id };
  return { do: 'pause', round, max };
}

export function keyOf(executionId: string, { from }: KeptRounds): string {
  return `paused:${executionId}:${from}`;
}

export async function findPause(
  { trx, row: { id } }: Pick<ThreadTransaction, 'trx' | 'row'>,
  executionId: string,
  kept: KeptRounds,
): Promise<WaitRow | undefined> {
  return trx
    .selectFrom('waits')
    .selectAll()
    .where('thread_id', '=', id)
    .where('key', '=', keyOf(executionId, kept))
    .executeTakeFirst();
}

function isApproved({ state, answer }: WaitRow): boolean {
  return state === 'answered' && answer !== null && JSON.parse(answer).approved === true;
}
