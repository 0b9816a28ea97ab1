/**
 * Whether a workflow has received anything since it scheduled the current activity: a message, a request, a timer. The
 * length of its history tells, except for events that tell the workflow nothing.
 */
import { Context } from '@temporalio/activity';
import type { LoopOffer } from '../../core/thread/step-loop.ts';

export interface QuietHistory {
  /** False also if another attempt at the activity has begun, or the server does not answer soon. */
  isQuiet(): Promise<boolean>;
}

/**
 * Milliseconds to wait for the server: going on saves only a few round trips, so a slow server is not worth waiting
 * for.
 */
const TIMEOUT_MS = 1000;

/** Events that tell the workflow nothing: it shows what it does, and a child that has reported completes. */
const HARMLESS = [
  'upsertWorkflowSearchAttributesEventAttributes',
  'workflowTaskScheduledEventAttributes',
  'workflowTaskStartedEventAttributes',
  'workflowTaskCompletedEventAttributes',
  'childWorkflowExecutionCompletedEventAttributes',
] as const;

/** Most of them that are read. */
const MAX_EVENTS = 16;

export function openQuietHistory({
  historyLength,
  showsRunning,
}: Pick<LoopOffer, 'historyLength' | 'showsRunning'>): QuietHistory {
  const { client, info } = Context.current();
  const { workflowId, runId } = info.workflowExecution ?? {};
  const request = { namespace: info.namespace, execution: { workflowId, runId } };
  const ask = <T>(read: () => Promise<T>) =>
    client.withDeadline(Date.now() + TIMEOUT_MS, read).catch(() => undefined);
  let length = historyLength;
  let timers = showsRunning ? 1 : 0;

  /** True if all events after `length`, up to `now`, are harmless; the timer may fire after which the status is shown. */
  async function hasOnlyHarmless(now: number): Promise<boolean> {
    const read = await ask(() =>
      client.workflowService.getWorkflowExecutionHistoryReverse({
        ...request,
        maximumPageSize: now - length,
      }),
    );
    const added = read?.history?.events?.slice(0, now - length) ?? [];
    // Without what has been added since, whose place others would take.
    if (added.length !== now - length || Number(added[0]?.eventId) !== now) return false;
    const others = added.filter((event) => !HARMLESS.some((attributes) => event[attributes]));
    if (others.length > timers) return false;
    if (!others.every(({ timerFiredEventAttributes }) => timerFiredEventAttributes)) return false;
    timers -= others.length;
    return true;
  }

  return {
    async isQuiet() {
      if (workflowId === undefined) return false;
      const seen = await ask(() => client.workflowService.describeWorkflowExecution(request));
      const current = seen?.pendingActivities?.find(({ activityId }) => activityId === info.activityId);
      if (seen?.pendingWorkflowTask || current?.attempt !== info.attempt) return false;
      const now = Number(seen?.workflowExecutionInfo?.historyLength);
      if (now === length) return true;
      if (!(now > length && now - length <= MAX_EVENTS && (await hasOnlyHarmless(now)))) return false;
      length = now;
      return true;
    },
  };
}
