/** A stored step, as its workflow receives it: after its commit, and when a run takes it over. */
import { budgetOf } from '../budget/account.ts';
import { selectStep } from '../transaction/step-row.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import type { StepRecord } from './step-record.ts';

/** Returns the record of a stored step for the workflow. */
export async function describeStep(thread: ThreadTransaction, step: number): Promise<StepRecord> {
  const row = await selectStep(thread.trx, thread.threadId, step)
    .select(['kind', 'model', 'text', 'directive', 'side'])
    .executeTakeFirstOrThrow();
  const calls = await thread.select('tool_calls', { step }).select('name').orderBy('idx').execute();
  return {
    step,
    kind: row.kind,
    text: row.text === 1,
    model: row.model,
    side: row.side,
    agent: thread.row.agent,
    turns: thread.row.turns,
    calls: calls.map((call) => call.name),
    moreInput: row.kind !== 'prompt' && thread.row.answer_due === 1,
    ...(row.directive ? { directive: row.directive } : {}),
    ...exceededIn(thread),
  };
}

/** The error of a budget that is used up, if what the step received has used it up. */
export function exceededIn({ row }: ThreadTransaction): Pick<StepRecord, 'exceeded'> {
  const exceeded = budgetOf(row)?.exceeded;
  return exceeded ? { exceeded } : {};
}
