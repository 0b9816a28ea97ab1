/**
 * Part of a worker's periodic maintenance (maintenance.ts): repeats signals about waits that threads have not
 * received. Either a wait is over, and the process that stored the answer was lost before it signalled, or the workflow
 * was killed before its timer fired; or a descendant began or ended a wait, and its worker was lost before it signalled
 * the ancestors. An unnecessary signal is harmless.
 */
import type { Client } from '@temporalio/client';
import { revival, workflowTypeOf } from '../core/thread/start-options.ts';
import type { ThreadStore } from '../store/store.ts';
import { answerWait, wakeForMessages } from '../workflows/messages.ts';

export interface WaitSignalPorts {
  readonly store: ThreadStore;
  readonly client: Client;
  readonly taskQueue: string;
}

/** Signals threads whose wait ended this long ago and whose call has not gone on. Returns how many were signalled. */
export async function signalForgotten(look: WaitSignalPorts, olderThanMs: number): Promise<number> {
  let sent = 0;
  for (const { id, threadId } of await look.store.waits.listForgotten(olderThanMs))
    if (await signalThread(look, threadId, answerWait, { id })) sent += 1;
  return sent;
}

/** Signals ancestors that show other waits than their workflows have read. Returns how many were signalled. */
export async function signalUnseen(look: WaitSignalPorts, olderThanMs: number): Promise<number> {
  let sent = 0;
  for (const { threadId, childId } of await look.store.waits.listUnseen(olderThanMs))
    if (await signalThread(look, threadId, wakeForMessages, { waitOf: childId })) sent += 1;
  return sent;
}

/** Signals a thread; starts its workflow if that was killed. False if the thread does not exist or is terminated. */
async function signalThread(
  { store, client, taskQueue }: WaitSignalPorts,
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
