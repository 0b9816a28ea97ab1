/**
 * How an activity reaches another thread of the family (runtime §8): the content is in the store, and the other
 * thread's workflow is signalled to read it. Signals use the workflow id without a run id, so it makes no difference
 * whether it has continued as new.
 * - A signal restarts a workflow that was killed, so the items in its queue are answered.
 * - A thread that has ended receives no signal.
 * - `end` never starts a workflow only to end it: if none runs, the caller ends the thread in the store.
 */
import { Context } from '@temporalio/activity';
import { revival, workflowIdOf, workflowTypeOf } from '../../core/thread/start-options.ts';
import type { ThreadStore } from '../../store/store.ts';
import {
  answerWait,
  stop,
  terminate,
  type WakePayload,
  wakeForEffects,
  wakeForMessages,
} from '../../workflows/messages.ts';
import { currentWorkflowQueue } from '../base/run-ref.ts';

export interface ThreadSignals {
  wake(threadId: string, payload?: WakePayload): Promise<void>;
  wakeForEffects(threadId: string, inMs: number): Promise<void>;
  /** Signals that the answer is in the store. */
  answerWait(threadId: string, id: string): Promise<void>;
  stop(threadId: string, reason?: string): Promise<void>;
  terminate(threadId: string, reason?: string): Promise<void>;
  /** False if no workflow runs. */
  end(threadId: string, reason?: string): Promise<boolean>;
}

/** Must be called within an activity, local or not. */
export function openThreadSignals(store: {
  readonly threads: Pick<ThreadStore['threads'], 'get'>;
}): ThreadSignals {
  const { client } = Context.current();
  const taskQueue = currentWorkflowQueue();
  const signal = async (threadId: string, { name }: { name: string }, payload: object): Promise<void> => {
    const thread = await store.threads.get(threadId);
    if (!thread || thread.terminatedAt !== null) return;
    await client.workflow.signalWithStart(workflowTypeOf(threadId), {
      ...revival(thread),
      taskQueue,
      signal: name,
      signalArgs: [payload],
    });
  };
  return {
    wake: (threadId, payload = {}) => signal(threadId, wakeForMessages, payload),
    wakeForEffects: (threadId, inMs) => signal(threadId, wakeForEffects, { inMs }),
    answerWait: (threadId, id) => signal(threadId, answerWait, { id }),
    stop: (threadId, reason) => signal(threadId, stop, { reason }),
    terminate: (threadId, reason) => signal(threadId, terminate, { reason }),
    async end(threadId, reason) {
      try {
        await client.workflow.getHandle(workflowIdOf(threadId)).signal(terminate, { reason });
        return true;
      } catch (error) {
        if ((error as Error).name === 'WorkflowNotFoundError') return false;
        throw error;
      }
    },
  };
}
