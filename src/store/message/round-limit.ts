/**
 * Decides whether a turn has used up its rounds (core/guard/round.ts), or so many of its calls have failed that it asks
 * for help (failure-limit.ts). As with limits (step-limit.ts), the step checks under its thread's lock, and hooks get
 * the expected verdict in advance.
 * R1. Rounds are the model steps since the newest message from outside, which grants new ones.
 * R2. A subagent pauses with a wait (pause-wait.ts), keyed by its execution and the start of its rounds; a root
 *     thread's execution ends.
 */
import { type RoundLimits, toRoundsError } from '../../core/guard/round.ts';
import { countAnswered } from '../transaction/step-count.ts';
import type { ThreadRow, ThreadTransaction } from '../transaction/thread-transaction.ts';
import { judgeFailures, type KeptFailures } from './failure-limit.ts';
import { type AskedRounds, hasOutsideMessage, judgePause, type RoundsVerdict } from './pause-wait.ts';

export interface KeptRounds extends KeptFailures {
  /** The number of model steps of the execution when its rounds began. */
  readonly from: number;
  readonly max: RoundLimits;
}

export const readKept = ({ rounds }: Pick<ThreadRow, 'rounds'>) =>
  rounds === null ? undefined : (JSON.parse(rounds) as KeptRounds);

type Read = Pick<ThreadTransaction, 'trx' | 'row'>;

/** Judges whether one more model step of an open execution may begin; undefined if it may. */
export async function judgeRounds(thread: Read, asked: AskedRounds): Promise<RoundsVerdict | undefined> {
  const { row } = thread;
  const { input } = asked;
  const kept = readKept(row);
  const asksModel = !input.hasTools && (row.turn_open === 1 || input.wantsAnswer);
  if (!kept || !asksModel) return undefined;
  return (await judgeTurn(thread, asked, kept)) ?? judgeFailures(thread, asked, kept);
}

async function judgeTurn(
  { trx, row }: Read,
  { input, side, executionId }: AskedRounds,
  kept: KeptRounds,
): Promise<RoundsVerdict | undefined> {
  const max = kept.max[side];
  if (max === undefined) return undefined;
  const { a, b } = await countAnswered(trx, row);
  const round = a + b - kept.from;
  if (round < max) return undefined;
  const error = toRoundsError(max);
  if (row.parent_id === null) return hasOutsideMessage(input) ? undefined : { do: 'end', error };
  const key = keyOf(executionId, kept);
  return judgePause({ trx, row }, input, { key, rounds: { round, maxRounds: max }, error });
}

export function keyOf(executionId: string, { from }: KeptRounds): string {
  return `paused:${executionId}:${from}`;
}
