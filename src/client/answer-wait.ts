/**
 * Answers a wait: the answer is stored, then the thread that waits is told its id.
 * A1. The store judges, so an answer counts without a worker. What could not be told is told again by whoever gives the same answer
 *     again.
 */
import { RuntimeError } from '../core/value/error.ts';
import { parseWaitAnswer, type WaitAnswer } from '../core/wait/answer.ts';
import type { WaitVerdict } from '../core/wait/wait.ts';
import type { ThreadStore } from '../store/port/thread-store.ts';
import type { Wait } from '../store/port/wait.ts';

export interface AnswerOptions {
  /** The `fingerprint` of the wait as it was shown: an answer for anything else is `stale`. */
  readonly fingerprint?: string;
}

export interface Answering extends AnswerOptions {
  readonly id: string;
  readonly answer: WaitAnswer;
}

export async function answerStoredWait(
  store: ThreadStore,
  { id, answer, fingerprint }: Answering,
  tell: (wait: Wait) => Promise<void>,
): Promise<WaitVerdict> {
  const parsed = parseWaitAnswer(answer);
  if (!parsed.ok)
    throw new RuntimeError('InvalidValue', `The wait "${id}" cannot be answered so: ${parsed.reason}.`);
  const given = { id, answer: parsed.value, ...(fingerprint === undefined ? {} : { fingerprint }) };
  const judged = await store.waits.answer(given);
  if (judged.outcome === 'misfit')
    throw new RuntimeError('InvalidValue', `The wait "${id}" cannot be answered so: ${judged.reason}.`);
  if (judged.outcome === 'unknown') return { outcome: 'unknown' };
  // A1: told again by a duplicate.
  if (judged.outcome === 'taken' || judged.outcome === 'duplicate') await tell(judged.wait);
  return { outcome: judged.outcome };
}

export function waitNotFound(id: string): RuntimeError {
  return new RuntimeError(
    'WaitNotFound',
    `There is no wait "${id}" in this store. "everthread waits list" shows those that are open.`,
  );
}
