/**
 * Tasks that end with the process whose object is their adapter: no other process knows their ids. The process renews
 * its presence as long as it works for the adapter's queue. After 30 s without a renewal the task fails with
 * `ProducerLost`, and its readers see that.
 * - The presence is claimed before the task is started: no task runs without a process that is present for it.
 * - Only a workflow that existed while its task was lost is terminated, never a later one.
 */
import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { PRESENCE_MS } from '../core/thread/producer.ts';
import { TASK_ID_PREFIX } from '../core/thread/task-start.ts';
import type { ThreadStore } from '../store/store.ts';
import type { RuntimeClient } from './runtime-client.ts';
import type { StartTask } from './tasks.ts';
import { isWorkflowGone } from './workflow-error.ts';

export interface AdapterPresence {
  /** Starts a task for the adapter, as `client.tasks.start` does, under an id that no other process knows. */
  start(given: Omit<StartTask, 'id'>): Promise<{ readonly id: string }>;
  /**
   * Stops renewing the presence. With `leaves`, tasks that have not ended are lost at once, not only when the presence
   * expires.
   */
  end(options: { readonly leaves: boolean }): Promise<void>;
}

export interface HoldAdapter {
  /** Task queue that the adapter works for; processes that work for the same queue count as one holder. */
  readonly taskQueue: string;
  /** Milliseconds without a renewal after which the adapter counts as lost; 30,000 unless given. */
  readonly presenceMs?: number;
}

export function holdAdapter(
  client: RuntimeClient,
  { taskQueue: holder, presenceMs = PRESENCE_MS }: HoldAdapter,
): AdapterPresence {
  const store = client.store;
  // An unreachable store may be reachable again before the presence expires.
  const show = () => void store.producers.renewAll({ holder, presenceMs }).catch(() => undefined);
  show();
  // Three renewals per presence period, so two may fail.
  const timer = setInterval(show, presenceMs / 3);
  timer.unref();
  return {
    async start(given) {
      const id = randomUUID();
      const threadId = TASK_ID_PREFIX + id;
      await endLostTasks(store, client.temporal);
      const claim = { threadId, executionId: threadId, holder };
      await store.producers.claim({ ...claim, presenceMs });
      try {
        return await client.tasks.start({ ...given, id });
      } catch (error) {
        // The task may have been started despite the error: it is then lost.
        await store.producers.renew({ ...claim, presenceMs: EXPIRED_PRESENCE_MS }).catch(() => undefined);
        throw error;
      }
    },
    async end({ leaves }) {
      clearInterval(timer);
      if (leaves && (await store.producers.renewAll({ holder, presenceMs: EXPIRED_PRESENCE_MS })) > 0)
        await endLostTasks(store, client.temporal);
    },
  };
}

/** A presence of this many milliseconds has already expired. */
const EXPIRED_PRESENCE_MS = -1;

/** Ends tasks whose process was lost, and terminates their workflows. */
export async function endLostTasks(store: ThreadStore, temporal: Client): Promise<void> {
  await store.producers.closeLost();
  for (const threadId of await store.producers.listLostTasks()) {
    const runId = await findRunId(temporal, threadId);
    const found = await store.producers.find(threadId, threadId);
    if (found?.state !== 'lost') continue;
    // This run existed while the task was lost.
    if (runId !== undefined)
      await temporal.workflow
        .getHandle(threadId, runId)
        .terminate('the process that ran its adapter was lost')
        .catch(ignoreGoneWorkflow);
    await store.producers.forgetLostTask(threadId);
  }
}

async function findRunId({ workflow }: Client, workflowId: string): Promise<string | undefined> {
  return (await workflow.getHandle(workflowId).describe().catch(ignoreGoneWorkflow))?.runId;
}

function ignoreGoneWorkflow(error: unknown): undefined {
  if (!isWorkflowGone(error)) throw error;
}
