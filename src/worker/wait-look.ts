/**
 * A worker's look (regular-look.ts) for waits of which threads have not heard: a wait is over, and the process that stored the answer was lost before it
 * signalled, or the workflow was killed before its timer; or a descendant has come to wait, or waits no more, and its worker was lost before it
 * told those above. A signal in vain does no harm.
 */
import type { Client } from '@temporalio/client';
import { revival, workflowTypeOf } from '../core/thread/start-options.ts';
import type { ThreadStore } from '../store/port/thread-store.ts';
import { answerWait, wakeForMessages } from '../workflows/messages.ts';

export interface WaitLook {
  readonly store: ThreadStore;
  readonly client: Client;
  readonly taskQueue: string;
}

/** Answers how many threads were told. */
export async function tellForgotten(look: WaitLook, olderThanMs: number): Promise<number> {
  let told = 0;
  for (const { id, threadId } of await look.store.waits.listForgotten(olderThanMs))
    if (await tell(look, threadId, answerWait, { id })) told += 1;
  return told;
}

/** Ancestors that show other waits than their workflows have read. Answers how many were told. */
export async function tellUnseen(look: WaitLook, olderThanMs: number): Promise<number> {
  let told = 0;
  for (const { threadId, childId } of await look.store.waits.listUnseen(olderThanMs))
    if (await tell(look, threadId, wakeForMessages, { waitOf: childId })) told += 1;
  return told;
}

/** Also where its workflow was killed. False for one that is over. */
async function tell(
  { store, client, taskQueue }: WaitLook,
  threadId: string,
  { name: signal }: { readonly name: string },
  payload: object,
): Promise<boolean> {
  const thread = await store.threads.get(threadId);
  if (thread?.terminatedAt !== null) return false;
  await client.workflow.signalWithStart(workflowTypeOf(threadId), {
    ...revival(thread),
    taskQueue,
    signal,
    signalArgs: [payload],
  });
  return true;
}
