/**
 * What the server recorded, cut into steps: from one `modelStep` scheduled to the next. Its own timestamps are the
 * measure, so neither the client's round trips nor its polling are counted.
 */
import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';

const { HistoryEvent } = proto.temporal.api.history.v1;
type Event = proto.temporal.api.history.v1.IHistoryEvent;

export interface StepMeasure {
  readonly events: number;
  readonly bytes: number;
  readonly ms: number;
}

/** Every step that another one follows, in order; of a turn of N tool calls, N. */
export async function measureSteps(client: Client, workflowId: string): Promise<StepMeasure[]> {
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  return cutSteps(events ?? []);
}

function cutSteps(events: readonly Event[]): StepMeasure[] {
  const starts = events.flatMap((event, index) => (isModelStep(event) ? [index] : []));
  return starts.slice(1).map((end, index) => {
    const start = starts[index] as number;
    const step = events.slice(start, end);
    return {
      events: step.length,
      bytes: step.reduce((sum, event) => sum + HistoryEvent.encode(event).finish().length, 0),
      ms: milliseconds(events[end] as Event) - milliseconds(events[start] as Event),
    };
  });
}

function isModelStep({ activityTaskScheduledEventAttributes: scheduled }: Event): boolean {
  return scheduled?.activityType?.name === 'modelStep';
}

function milliseconds({ eventTime }: Event): number {
  return Number(eventTime?.seconds ?? 0) * 1000 + (eventTime?.nanos ?? 0) / 1e6;
}
