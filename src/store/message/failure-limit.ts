/**
 * Decides whether so many of an execution's newest calls have failed in a row that it asks for help
 * (core/guard/failure.ts). The calls' rows are counted: a success ends the series, and a killed worker loses nothing.
 * Failures before help was given no longer count.
 */

import { type PausedFailures, toFailuresError } from '../../core/guard/failure.ts';
import { selectExecutionCalls } from '../transaction/call-row.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import { type AskedRounds, judgePause, type RoundsVerdict } from './pause-wait.ts';

export interface KeptFailures {
  readonly max: { readonly failures?: number };
  /** The last step whose failures no longer count. */
  readonly helped?: number;
}

type Read = Pick<ThreadTransaction, 'trx' | 'row'>;

/** Checked before a model step; undefined if it may begin. */
export async function judgeFailures(
  thread: Read,
  { input, side, executionId }: AskedRounds,
  kept: KeptFailures,
): Promise<RoundsVerdict | undefined> {
  const failures = await findFailures(thread, { side, executionId }, kept);
  if (!failures) return undefined;
  const key = failureKey(executionId, kept);
  return judgePause(thread, input, { key, failures, error: toFailuresError(failures) });
}

export function failureKey(executionId: string, { helped = 0 }: KeptFailures): string {
  return `failures:${executionId}:${helped}`;
}

/** Undefined if one of the newest calls has succeeded, or there are fewer calls. */
export async function findFailures(
  thread: Read,
  { side, executionId }: Pick<AskedRounds, 'side' | 'executionId'>,
  { max: { failures: max }, helped = 0 }: KeptFailures,
): Promise<PausedFailures | undefined> {
  if (max === undefined) return undefined;
  const newest = await selectExecutionCalls(thread, executionId)
    .select(['tool_calls.name', 'tool_calls.status'])
    .where('tool_calls.step', '>', helped)
    .where('tool_calls.origin', '=', 'model')
    .where('steps.parent_step', 'is', null)
    .where('steps.side', '=', side)
    .orderBy('tool_calls.step', 'desc')
    .orderBy('tool_calls.idx', 'desc')
    .limit(max)
    .execute();
  const [last] = newest;
  const inRow = newest.length === max && newest.every(({ status }) => status === 'error');
  return last && inRow ? { failures: max, tool: last.name } : undefined;
}
