/** Resumes a step that this run has asked for before: its worker was lost, or its answer was. */
import type { BeginStep, BegunStep } from '../../port/thread-store.ts';
import type { CommandContext } from '../base/context.ts';
import { countedSteps } from '../base/step-count.ts';
import { selectStep } from '../base/step-row.ts';
import type { ThreadTransaction } from '../base/thread-transaction.ts';
import { bringContext } from './bring-context.ts';
import { describeStep } from './describe-step.ts';
import { retryStep } from './open-step.ts';

/** Continues from the state that the step has reached. */
export async function resume(
  context: CommandContext,
  thread: ThreadTransaction,
  command: BeginStep,
  { step: begun, swept }: { readonly step: number; readonly swept: number },
): Promise<BegunStep> {
  const step = await selectStep(thread.trx, thread.threadId, begun)
    .select(['step', 'state', 'attempt', 'handed_over'])
    .executeTakeFirstOrThrow();
  switch (step.state) {
    case 'committed':
      return findStored(thread, step.step, swept);
    case 'failed':
      return {
        kind: 'failed',
        step: step.step,
        error: JSON.parse(thread.row.last_error ?? '{"code":"Unknown","message":"the step failed"}'),
        swept,
      };
    case 'stopped':
    case 'abandoned':
      return { kind: 'nothing_to_do', step: step.step, swept };
    case 'open': {
      const attempt = await retryStep(context, thread, { ...step, left: command.left });
      const taken = countedSteps(thread.row);
      return bringContext(thread, command, { kind: 'call', step: step.step, attempt, swept, taken });
    }
  }
}

export async function findStored(thread: ThreadTransaction, step: number, swept: number) {
  const taken = countedSteps(thread.row);
  return { kind: 'stored', record: await describeStep(thread, step), swept, taken } as const;
}
