/** A step that is in the store, as its workflow must hear of it: after its commit, and where a run takes it over. */
import type { StepRecord } from '../../port/step.ts';
import { selectStep } from '../base/step-row.ts';
import type { ThreadTransaction } from '../base/thread-transaction.ts';
import { budgetOf } from '../budget/account.ts';

/** What the workflow must hear of a stored step. */
export async function describeStep(thread: ThreadTransaction, step: number): Promise<StepRecord> {
  const row = await selectStep(thread.trx, thread.threadId, step)
    .select(['kind', 'model', 'text', 'directive', 'side'])
    .executeTakeFirstOrThrow();
  const calls = await thread.trx
    .selectFrom('tool_calls')
    .select('name')
    .where('thread_id', '=', thread.threadId)
    .where('step', '=', step)
    .orderBy('idx')
    .execute();
  return {
    step,
    kind: row.kind,
    text: row.text === 1,
    model: row.model,
    side: row.side,
    agent: thread.row.agent,
    turns: thread.row.turns,
    calls: calls.map((call) => call.name),
    moreInput: row.kind !== 'prompt' && (await hasMoreInput(thread, step)),
    ...(row.directive ? { directive: row.directive } : {}),
    ...exceededIn(thread),
  };
}

/** What the step was answered with has used up the budget of its execution. */
export function exceededIn({ row }: ThreadTransaction): Pick<StepRecord, 'exceeded'> {
  const exceeded = budgetOf(row)?.exceeded;
  return exceeded ? { exceeded } : {};
}

/**
 * Input is stored that this step has not answered: a message that queued tools came with, or the step of queued tools that early
 * versions opened along with one they took over.
 */
export async function hasMoreInput({ row, trx }: ThreadTransaction, step: number): Promise<boolean> {
  if (row.answer_due === 1 || row.last_step <= step) return row.answer_due === 1;
  const later = await trx
    .selectFrom('steps')
    .select('step')
    .where('thread_id', '=', row.id)
    .where('step', '>', step)
    .where('kind', '!=', 'prompt')
    .limit(1)
    .executeTakeFirst();
  return later !== undefined;
}
