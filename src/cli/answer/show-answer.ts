/** The end of every command with `--wait`: shows the answer, then how the thread came to rest. */
import type { CommonOptions, WaitOptions } from '../command.ts';
import { printJson } from '../output/output.ts';
import { tellWaits } from './tell-waits.ts';
import { type AnswerWait, exitOfThread, waitForAnswer } from './wait-for-answer.ts';

export async function showAnswer(
  wait: Omit<AnswerWait, 'timeoutMs'> & Pick<CommonOptions, 'json'> & Pick<WaitOptions, 'timeout'>,
): Promise<number> {
  const { threadId, sent, sink, json, timeout } = wait;
  const record = await waitForAnswer({
    ...wait,
    timeoutMs: timeout === undefined ? undefined : timeout * 1000,
  });
  const waits = record.status === 'waiting' ? await wait.client.listWaits({ threadId }) : [];
  if (json) {
    const { status, stopReason, lastError } = record;
    printJson({
      threadId,
      ...(sent === undefined ? {} : { id: sent }),
      status,
      stopReason,
      error: lastError,
      answer: sink.answer,
      ...(waits.length > 0 ? { waits } : {}),
    });
  } else tellWaits(waits);
  return exitOfThread(record);
}
