/**
 * Whether a workflow has received anything since it scheduled the current activity: a message, a request, a timer. The
 * length of its history tells, except for the events by which it shows that it is running (workflows/presence.ts).
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

/** The attributes of those events, newest first. */
const SHOWS_RUNNING = [
  'upsertWorkflowSearchAttributesEventAttributes',
  'workflowTaskCompletedEventAttributes',
  'workflowTaskStartedEventAttributes',
  'workflowTaskScheduledEventAttributes',
  'timerFiredEventAttributes',
] as const;

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
  let mayShow = showsRunning === true;

  async function hasOnlyShown(): Promise<boolean> {
    const events = SHOWS_RUNNING.length;
    const read = await ask(() =>
      client.workflowService.getWorkflowExecutionHistoryReverse({ ...request, maximumPageSize: events }),
    );
    const last = (read?.history?.events ?? []).slice(0, events);
    return (
      Number(last[0]?.eventId) === length + events &&
      SHOWS_RUNNING.every((attributes, at) => last[at]?.[attributes])
    );
  }

  return {
    async isQuiet() {
      if (workflowId === undefined) return false;
      const seen = await ask(() => client.workflowService.describeWorkflowExecution(request));
      const current = seen?.pendingActivities?.find(({ activityId }) => activityId === info.activityId);
      if (seen?.pendingWorkflowTask || current?.attempt !== info.attempt) return false;
      const now = Number(seen?.workflowExecutionInfo?.historyLength);
      if (now === length) return true;
      if (!mayShow || now !== length + SHOWS_RUNNING.length || !(await hasOnlyShown())) return false;
      [length, mayShow] = [now, false];
      return true;
    },
  };
}
