/** `answerWait`: stores an answer that a signal or an update has brought to the thread's workflow. */
import type { AnswerWaitInput, WaitAnswerOutcome } from '../../core/thread/wait-step.ts';
import { asksForSecrets } from '../../core/wait/wait.ts';
import { wakeAfter } from '../../workflows/messages.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { fromRun } from '../base/run-ref.ts';
import { openThreadSignals } from '../signals/thread-signals.ts';

export async function answerWait(
  { store, probe }: Pick<ActivityDependencies, 'store' | 'probe'>,
  { id, answer, fingerprint, ...run }: AnswerWaitInput,
): Promise<WaitAnswerOutcome> {
  const { threadId } = fromRun(store, run);
  if (await exposesSecret(store, id, answer)) return { outcome: 'misfit', reason: SECRET_EXPOSED };
  const judged = await store.waits.answer({
    id,
    answer,
    ...(fingerprint === undefined ? {} : { fingerprint }),
  });
  await probe?.('wait_answered');
  if (judged.outcome === 'misfit') return judged;
  if (judged.outcome === 'unknown') return { outcome: 'unknown' };
  const wake = wakeAfter(judged.wait);
  if (wake) {
    await openThreadSignals(store).wake(judged.wait.threadId, wake);
    return { outcome: judged.outcome };
  }
  // The answer was given to a relative, such as the root of the family, which shows the wait.
  if (judged.wait.threadId !== threadId) await openThreadSignals(store).answerWait(judged.wait.threadId, id);
  return { outcome: judged.outcome };
}

const SECRET_EXPOSED =
  'values sent by signal or update stay in the workflow history: give secret variables with "everthread waits answer ID --value-stdin", using new values';

/**
 * True if the answer holds values of secrets. They are in the history by now; such answers are refused so that nobody
 * relies on this.
 */
async function exposesSecret(
  { waits }: Pick<ActivityDependencies, 'store'>['store'],
  id: string,
  answer: AnswerWaitInput['answer'],
): Promise<boolean> {
  if (!('value' in answer)) return false;
  const wait = await waits.get(id);
  return wait !== null && asksForSecrets(wait);
}
