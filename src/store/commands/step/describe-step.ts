/** A stored step, as its workflow receives it: after its commit, and when a run takes it over. */
import type { StepRecord } from '../../port/step.ts';
import { selectStep } from '../base/step-row.ts';
import type { ThreadTransaction } from '../base/thread-transaction.ts';
import { budgetOf } from '../budget/account.ts';

/** Returns the record of a stored step for the workflow. */
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

/** The error of a budget that is used up, if what the step received has used it up. */
export function exceededIn({ row }: ThreadTransaction): Pick<StepRecord, 'exceeded'> {
  const exceeded = budgetOf(row)?.exceeded;
  return exceeded ? { exceeded } : {};
}

/**
 * True if stored input is not answered by this step: a message with queued tools, or the step of queued tools that
 * early versions opened along with a step that they took over.
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
