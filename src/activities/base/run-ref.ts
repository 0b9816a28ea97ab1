/**
 * Identifies the caller: the thread and the workflow run of the current activity, checked against the store's own id.
 */
import { Context } from '@temporalio/activity';
import { QUEUED_SHOWN_MS } from '../../core/event/cause.ts';
import { ACTIVITIES, type ActivityName, sideQueue } from '../../core/thread/activities.ts';
import type { RunRef } from '../../core/thread/step.ts';
import { RuntimeError } from '../../core/value/error.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { ActivityAttempt } from '../../store/transaction/from-run.ts';

export function currentRunId(): string {
  return Context.current().info.workflowExecution?.runId ?? '';
}

/** True if another attempt at the current activity came before. */
export function isRepeated(): boolean {
  return Context.current().info.attempt > 1;
}

/** The task queue of the workflows; the current activity may have another one. */
export function currentWorkflowQueue(): string {
  const { activityType, taskQueue } = Context.current().info;
  const { queue } = ACTIVITIES[activityType as ActivityName];
  return queue ? taskQueue.slice(0, -sideQueue('', queue).length) : taskQueue;
}

/** For commands that begin work of the thread's flow, or end it: which attempt at which activity sends them. */
export function currentAttempt(): ActivityAttempt {
  const { activityId, currentAttemptScheduledTimestampMs: since } = Context.current().info;
  // The SDK names an activity by its number.
  return { number: Number(activityId), since };
}

/** Milliseconds in Temporal's queue, of attempts that have not told it yet. */
const queueTimes = new WeakMap<Context, number>();

/** Called as the attempt begins. */
export function noteQueueTime(context: Context): void {
  const queuedMs = Math.round(Date.now() - context.info.currentAttemptScheduledTimestampMs);
  if (queuedMs >= QUEUED_SHOWN_MS) queueTimes.set(context, queuedMs);
}

/** As `currentAttempt`, for a command that begins a step or a tool: the first one of an attempt tells its queue time. */
export function beginningAttempt(): ActivityAttempt {
  const context = Context.current();
  const queuedMs = queueTimes.get(context);
  queueTimes.delete(context);
  return queuedMs === undefined ? currentAttempt() : { ...currentAttempt(), queuedMs };
}

export function fromRun(
  store: ThreadStore,
  { threadId, storeId }: RunRef,
): { threadId: string; runId: string } {
  if (storeId !== store.id) {
    throw new RuntimeError(
      'StoreMismatch',
      `Thread "${threadId}" lives in store ${storeId}, but this worker uses store ${store.id}. ` +
        'Set EVERTHREAD_STORE of this worker to the right store, or stop it.',
    );
  }
  return { threadId, runId: currentRunId() };
}
