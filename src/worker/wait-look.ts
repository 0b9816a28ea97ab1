/**
 * A worker's look (regular-look.ts) for waits that are over and whose threads have not heard of it: the process that stored the answer was lost
 * before it signalled, or the workflow was killed before its timer. A signal in vain does no harm.
 */
import type { Client } from '@temporalio/client';
import { revival, WORKFLOW_TYPE } from '../core/thread/start-options.ts';
import type { ThreadStore } from '../store/port/thread-store.ts';
import { answerWait } from '../workflows/messages.ts';

export interface WaitLook {
  readonly store: ThreadStore;
  readonly client: Client;
  readonly taskQueue: string;
}

/** Answers how many threads were told. */
export async function tellForgotten(
  { store, client, taskQueue }: WaitLook,
  olderThanMs: number,
): Promise<number> {
  let told = 0;
  for (const { id, threadId } of await store.waits.listForgotten(olderThanMs)) {
    const thread = await store.threads.get(threadId);
    if (thread?.terminatedAt !== null) continue;
    await client.workflow.signalWithStart(WORKFLOW_TYPE, {
      ...revival(thread),
      taskQueue,
      signal: answerWait.name,
      signalArgs: [{ id }],
    });
    told += 1;
  }
  return told;
}
