/**
 * The rounds of a turn, as its execution goes on (message/round-limit.ts). Their limit is kept in the thread's row when
 * an execution begins: definitions of another build hold from the next one on. A thread without a limit needs no query.
 */

import { type RoundLimits, toExecutedTools } from '../../core/guard/round.ts';
import { failureKey, findFailures } from '../message/failure-limit.ts';
import { type AskedRounds, hasOutsideMessage, type RoundsVerdict } from '../message/pause-wait.ts';
import { countPending } from '../message/queue.ts';
import { type KeptRounds, keyOf, readKept } from '../message/round-limit.ts';
import { selectExecutionCalls } from '../transaction/call-row.ts';
import { askedSteps, countAnswered } from '../transaction/step-count.ts';
import type { ThreadRow, ThreadTransaction } from '../transaction/thread-transaction.ts';
import type { BegunStep } from './step-record.ts';

const total = (row: ThreadRow): number => askedSteps(row).a + askedSteps(row).b;

function setRounds(thread: ThreadTransaction, kept: KeptRounds | undefined): void {
  const rounds = kept ? JSON.stringify(kept) : null;
  if (rounds !== thread.row.rounds) thread.set({ rounds });
}

/** Stores the limit when an execution begins, or `handsOver` to another agent, whose limits hold from then on. */
export function pinRounds(
  thread: ThreadTransaction,
  max: RoundLimits | undefined,
  { handsOver = false } = {},
): void {
  const { row } = thread;
  const from = (handsOver ? readKept(row)?.from : undefined) ?? total(row);
  // Failures under another agent do not count for this one.
  const helped = handsOver && max?.failures !== undefined ? row.last_step : undefined;
  setRounds(thread, max && { from, max, helped });
}

/** The step does not begin, and its input stays in line. */
export async function pause(
  thread: ThreadTransaction,
  {
    do: _,
    executionId,
    rounds,
    ...reason
  }: Extract<RoundsVerdict, { do: 'pause' }> & Pick<AskedRounds, 'executionId'>,
): Promise<Extract<BegunStep, { kind: 'paused' }>> {
  const { agent, last_step: step } = thread.row;
  const executedTools = rounds && toExecutedTools(await readCalled(thread, executionId));
  const shown = rounds && executedTools && { ...rounds, executedTools };
  const pause = { ...reason, executionId, agent, rounds: shown };
  return { kind: 'paused', step, swept: 0, waiting: await countPending(thread), pause };
}

/** Names of the called tools, oldest first. */
async function readCalled(thread: ThreadTransaction, executionId: string) {
  const calls = await selectExecutionCalls(thread, executionId)
    .select('tool_calls.name')
    .orderBy('tool_calls.step')
    .orderBy('tool_calls.idx')
    .execute();
  return calls.map(({ name }) => name);
}

/**
 * Called when the step may begin. Grants new rounds after a message from outside, or an approval, and marks the wait
 * for that as heard.
 */
export async function grantRounds(
  thread: ThreadTransaction,
  input: AskedRounds['input'],
  executionId: string,
): Promise<void> {
  const kept = readKept(thread.row);
  const side = input.answering ?? thread.row.side;
  if (!kept || (input.hasTools && !hasOutsideMessage(input))) return;
  const granted = await grantTurn(thread, { input, side, executionId }, kept);
  setRounds(thread, await grantHelp(thread, { input, side, executionId }, granted));
}

async function grantTurn(
  thread: ThreadTransaction,
  { input, side, executionId }: AskedRounds,
  kept: KeptRounds,
): Promise<KeptRounds> {
  const max = kept.max[side];
  if (max === undefined) return kept;
  const { a, b } = await countAnswered(thread.trx, thread.row);
  const usedUp = a + b - kept.from >= max;
  if (!hasOutsideMessage(input) && !usedUp) return kept;
  if (usedUp && thread.row.parent_id !== null) await markPauseHeard(thread, keyOf(executionId, kept));
  return { ...kept, from: a + b };
}

/** Failures up to now no longer count. */
async function grantHelp(
  thread: ThreadTransaction,
  { input, side, executionId }: AskedRounds,
  kept: KeptRounds,
): Promise<KeptRounds> {
  if (kept.max.failures === undefined) return kept;
  const failed = await findFailures(thread, { side, executionId }, kept);
  if (failed) await markPauseHeard(thread, failureKey(executionId, kept));
  return failed || hasOutsideMessage(input) ? { ...kept, helped: thread.row.last_step } : kept;
}

async function markPauseHeard(thread: ThreadTransaction, key: string): Promise<void> {
  await thread.update('waits', { key }, { heard: 1 });
}
