/**
 * Tasks whose adapter was handed over, and lives with its process. That process shows its presence as long as it works for the queue that the adapter is
 * at; without it for 30 s the task has failed, `ProducerLost`, and its readers are told.
 * P1. Claimed before it is started: no task runs that nobody is present for.
 * P2. A workflow is terminated that was there while its task was lost, never one that came after it (store/commands/producer/task-adapter.ts, H2).
 */
import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { PRESENCE_MS } from '../core/thread/producer.ts';
import { TASK_ID_PREFIX } from '../core/thread/task-start.ts';
import type { ThreadStore } from '../store/port/thread-store.ts';
import { storeOf } from './client-store.ts';
import type { RuntimeClient } from './runtime-client.ts';
import type { StartTask } from './tasks.ts';
import { isGone } from './workflow-error.ts';

export interface AdapterPresence {
  /** Starts a task for the adapter; as `client.tasks.start`. */
  start(given: StartTask): Promise<{ readonly id: string }>;
  /** No more signs of it. `leaves`: what has not ended is lost, and not at its time alone. */
  end(options: { readonly leaves: boolean }): Promise<void>;
}

export interface HoldAdapter {
  /** That the adapter works for: other processes that work for the same one have it too. */
  readonly taskQueue: string;
  /** 30 s unless given. */
  readonly presenceMs?: number;
}

export function holdAdapter(
  client: RuntimeClient,
  { taskQueue: holder, presenceMs = PRESENCE_MS }: HoldAdapter,
): AdapterPresence {
  const store = storeOf(client);
  // A store that is away may be back before the presence is over.
  const show = () => void store.producers.renewAll({ holder, presenceMs }).catch(() => undefined);
  show();
  // Three signs, of which two may be lost.
  const timer = setInterval(show, presenceMs / 3);
  timer.unref();
  return {
    async start(given) {
      const id = given.id ?? randomUUID();
      const threadId = TASK_ID_PREFIX + id;
      await endLostTasks(store, client.temporal);
      // P1: one that is there already has its holder, or needs none.
      const known = (await store.tasks.get(id)) !== null;
      const ours = !known && (await store.producers.claimTask({ threadId, holder, presenceMs }));
      try {
        return await client.tasks.start({ ...given, id });
      } catch (error) {
        // It may have been started all the same: it is lost then, and may be started anew.
        const claim = { threadId, executionId: threadId, holder };
        if (ours) await store.producers.renew({ ...claim, presenceMs: LEFT }).catch(() => undefined);
        throw error;
      }
    },
    async end({ leaves }) {
      clearInterval(timer);
      if (leaves && (await store.producers.renewAll({ holder, presenceMs: LEFT })) > 0)
        await endLostTasks(store, client.temporal);
    },
  };
}

/** Present until a moment ago. */
const LEFT = -1;

/** Ends what was lost with its process, and the workflows of tasks that were. */
export async function endLostTasks(store: ThreadStore, temporal: Client): Promise<void> {
  await store.producers.closeLost();
  for (const threadId of await store.producers.listLostTasks()) {
    const runId = await runOf(temporal, threadId);
    const found = await store.producers.find(threadId, threadId);
    if (found?.state !== 'lost') continue;
    // P2: this run was there while the task was lost.
    if (runId !== undefined)
      await temporal.workflow
        .getHandle(threadId, runId)
        .terminate('the process that had its adapter was lost')
        .catch(unlessGone);
    await store.producers.forgetLostTask(threadId);
  }
}

async function runOf({ workflow }: Client, workflowId: string): Promise<string | undefined> {
  return (await workflow.getHandle(workflowId).describe().catch(unlessGone))?.runId;
}

function unlessGone(error: unknown): undefined {
  if (!isGone(error)) throw error;
}
