/** `answerWait`: stores an answer that a signal or an update has brought to the thread's workflow. */
import type { AnswerWaitInput, WaitAnswerOutcome } from '../../core/thread/wait-step.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { fromRun } from '../base/run-ref.ts';
import { openThreadSignals } from '../signals/thread-signals.ts';

export async function answerWait(
  { store, probe }: Pick<ActivityDependencies, 'store' | 'probe'>,
  { id, answer, fingerprint, ...run }: AnswerWaitInput,
): Promise<WaitAnswerOutcome> {
  const { threadId } = fromRun(store, run);
  const judged = await store.waits.answer({
    id,
    answer,
    ...(fingerprint === undefined ? {} : { fingerprint }),
  });
  await probe?.('wait_answered');
  if (judged.outcome === 'misfit') return judged;
  if (judged.outcome === 'unknown') return { outcome: 'unknown' };
  // Given to a relative, as to the root of the family that shows it.
  if (judged.wait.threadId !== threadId) await openThreadSignals(store).answerWait(judged.wait.threadId, id);
  return { outcome: judged.outcome };
}
