/**
 * The rounds of a turn, as its execution goes on (message/round-limit.ts). Their limit is kept in the thread's row as an execution begins: another
 * build's definitions hold from the next one on. A thread without any is asked nothing.
 */
import { type RoundLimits, toExecutedTools } from '../../../core/guard/round.ts';
import type { BegunStep } from '../../port/step.ts';
import { askedSteps, countAnswered } from '../base/step-count.ts';
import type { ThreadRow, ThreadTransaction } from '../base/thread-transaction.ts';
import { countPending } from '../message/queue.ts';
import {
  type AskedRounds,
  isSpokenTo,
  type KeptRounds,
  keyOf,
  type RoundsVerdict,
  readKept,
} from '../message/round-limit.ts';

const total = (row: ThreadRow): number => askedSteps(row).a + askedSteps(row).b;

function keep(thread: ThreadTransaction, kept: KeptRounds | undefined): void {
  const rounds = kept ? JSON.stringify(kept) : null;
  if (rounds !== thread.row.rounds) thread.set({ rounds });
}

/** An execution begins, or `handsOver` to another agent, whose limits hold from here on. */
export function pinRounds(
  thread: ThreadTransaction,
  max: RoundLimits | undefined,
  { handsOver = false } = {},
): void {
  const from = (handsOver ? readKept(thread.row)?.from : undefined) ?? total(thread.row);
  keep(thread, max && { from, max });
}

/** The step is not begun, and its input stays in line. */
export async function pause(
  thread: ThreadTransaction,
  { executionId, round, max: maxRounds, spokenTo }: PauseVerdict & Pick<AskedRounds, 'executionId'>,
): Promise<Extract<BegunStep, { kind: 'paused' }>> {
  const { agent, last_step: step } = thread.row;
  const executedTools = toExecutedTools(await readCalled(thread, executionId));
  const pause = {
    key: keyOf(executionId, readKept(thread.row) as KeptRounds),
    ...{ executionId, agent, rounds: { round, maxRounds, executedTools } },
    ...(spokenTo === undefined ? {} : { spokenTo }),
  };
  return { kind: 'paused', step, swept: 0, waiting: await countPending(thread), pause };
}

type PauseVerdict = Extract<RoundsVerdict, { do: 'pause' }>;

/** Names, oldest first. */
async function readCalled({ trx, threadId, row }: ThreadTransaction, executionId: string) {
  const calls = await trx
    .selectFrom('tool_calls')
    .innerJoin('steps', (join) =>
      join.onRef('steps.thread_id', '=', 'tool_calls.thread_id').onRef('steps.step', '=', 'tool_calls.step'),
    )
    .select('tool_calls.name')
    .where('tool_calls.thread_id', '=', threadId)
    .where('tool_calls.step', '>=', row.asked_from)
    .where('steps.execution_id', '=', executionId)
    .orderBy('tool_calls.step')
    .orderBy('tool_calls.idx')
    .execute();
  return calls.map(({ name }) => name);
}

/** The step may begin: with new rounds, where somebody has spoken or has let it go on. What was asked of it is heard. */
export async function grantRounds(
  thread: ThreadTransaction,
  input: AskedRounds['input'],
  executionId: string,
): Promise<void> {
  const kept = readKept(thread.row);
  const side = input.answering ?? thread.row.side;
  const max = kept?.max[side];
  if (!kept || max === undefined) return;
  const { a, b } = await countAnswered(thread.trx, thread.row);
  const usedUp = a + b - kept.from >= max;
  if (!isSpokenTo(input) && (!usedUp || input.hasTools)) return;
  if (usedUp && thread.row.parent_id !== null) await hearPause(thread, executionId, kept);
  keep(thread, { ...kept, from: a + b });
}

async function hearPause(
  { trx, threadId }: ThreadTransaction,
  executionId: string,
  kept: KeptRounds,
): Promise<void> {
  const key = keyOf(executionId, kept);
  await trx
    .updateTable('waits')
    .set({ heard: 1 })
    .where('thread_id', '=', threadId)
    .where('key', '=', key)
    .execute();
}
