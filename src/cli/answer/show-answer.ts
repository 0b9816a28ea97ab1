/** Ends every command with `--wait`: shows the answer, then the status in which the thread rests. */

import type { ThreadRecord } from '../../store/thread/thread-record.ts';
import type { Wait } from '../../store/wait/wait-record.ts';
import type { CommonOptions, Values, WAIT } from '../command.ts';
import { printJson } from '../output/output.ts';
import { printWaits } from './print-waits.ts';
import { type AnswerWait, threadExitCode, waitForAnswer } from './wait-for-answer.ts';

export async function showAnswer(
  wait: Omit<AnswerWait, 'timeoutMs'> & Pick<CommonOptions, 'json'> & Pick<Values<typeof WAIT>, 'timeout'>,
): Promise<number> {
  const { threadId, sent, sink, json, timeout } = wait;
  const record = await waitForAnswer({
    ...wait,
    timeoutMs: timeout === undefined ? undefined : timeout * 1000,
  });
  const waits = record.status === 'waiting' ? await wait.client.listWaits({ threadId }) : [];
  if (json) printJson(toAnswerJson(record, { sent, answer: sink.answer, waits }));
  else printWaits(waits);
  return threadExitCode(record);
}

interface AnswerResult {
  /** Id of the message that was sent. */
  readonly sent: string | undefined;
  readonly answer: string | null;
  readonly waits: readonly Wait[];
}

/** Converts an answer to JSON: the thread's status, its answer, and its open waits. */
export function toAnswerJson(
  { id: threadId, status, stopReason, lastError }: ThreadRecord,
  { sent, answer, waits }: AnswerResult,
): object {
  return {
    threadId,
    ...(sent === undefined ? {} : { id: sent }),
    status,
    stopReason,
    error: lastError,
    answer,
    ...(waits.length > 0 ? { waits } : {}),
  };
}
