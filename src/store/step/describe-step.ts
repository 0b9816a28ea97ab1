/** A stored step, as its workflow receives it: after its commit, and when a run takes it over. */
import { budgetOf } from '../budget/account.ts';
import type { StepRow } from '../transaction/step-row.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import type { StepRecord } from './step-record.ts';

export async function describeStep(thread: ThreadTransaction, step: number): Promise<StepRecord> {
  const row = await thread.read('steps', { step });
  const calls = await thread.select('tool_calls', { step }).select('name').orderBy('idx').execute();
  return toStepRecord(
    thread,
    row,
    calls.map(({ name }) => name),
  );
}

/** `exceeded`: if what the step received has used up a budget. */
export function toStepRecord(
  { row: thread }: ThreadTransaction,
  {
    step,
    kind,
    text,
    model,
    side,
    directive,
  }: Pick<StepRow, 'step' | 'kind' | 'text' | 'model' | 'side' | 'directive'>,
  calls: readonly string[],
): StepRecord {
  return {
    step,
    kind,
    text: text === 1,
    model,
    side,
    agent: thread.agent,
    turns: thread.turns,
    calls,
    moreInput: kind !== 'prompt' && thread.answer_due === 1,
    directive: directive ?? undefined,
    exceeded: budgetOf(thread)?.exceeded,
  };
}
