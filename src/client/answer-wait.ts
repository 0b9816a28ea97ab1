/**
 * Answers a wait: stores the answer, then sends the wait's id to the waiting thread.
 * - The store judges an answer, so it counts without a worker. If the thread could not be notified, giving the same
 *   answer again notifies it.
 */
import { RuntimeError } from '../core/value/error.ts';
import { parseWaitAnswer, type WaitAnswer } from '../core/wait/answer.ts';
import type { WaitVerdict } from '../core/wait/wait.ts';
import type { ThreadStore } from '../store/store.ts';
import type { Wait } from '../store/wait/wait-record.ts';

export interface AnswerOptions {
  /** The `fingerprint` of the wait as it was shown: an answer for anything else is `stale`. */
  readonly fingerprint?: string;
}

export interface AnswerRequest extends AnswerOptions {
  readonly id: string;
  readonly answer: WaitAnswer;
}

export async function answerStoredWait(
  store: ThreadStore,
  { id, answer, fingerprint }: AnswerRequest,
  send: (wait: Wait) => Promise<void>,
): Promise<WaitVerdict> {
  const parsed = parseWaitAnswer(answer);
  if (!parsed.ok)
    throw new RuntimeError('InvalidValue', `This answer does not fit the wait "${id}": ${parsed.reason}.`);
  const given = { id, answer: parsed.value, ...(fingerprint === undefined ? {} : { fingerprint }) };
  const judged = await store.waits.answer(given);
  if (judged.outcome === 'misfit')
    throw new RuntimeError('InvalidValue', `This answer does not fit the wait "${id}": ${judged.reason}.`);
  if (judged.outcome === 'unknown') return { outcome: 'unknown' };
  // A duplicate notifies the thread again.
  if (judged.outcome === 'taken' || judged.outcome === 'duplicate') await send(judged.wait);
  return { outcome: judged.outcome };
}

export function waitNotFound(id: string): RuntimeError {
  return new RuntimeError(
    'WaitNotFound',
    `There is no wait "${id}" in this store. "everthread waits list" lists the open waits.`,
  );
}
