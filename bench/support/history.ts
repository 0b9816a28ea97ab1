/**
 * Cuts what the server recorded into steps: from the scheduling of one activity that asks a model to the next. That
 * activity is `modelStep`, or the call of a tool that continues into the next step. An activity that asks two models
 * counts as two steps of half its size. The server's timestamps are used, so neither the client's round trips nor its
 * polling are counted.
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

/** Returns every step that another one follows, in order. */
export async function measureSteps(client: Client, workflowId: string): Promise<StepMeasure[]> {
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  return cutSteps(events ?? []);
}

function cutSteps(events: readonly Event[]): StepMeasure[] {
  const starts = events.flatMap((event, index) => (asksModel(event) ? [index] : []));
  return starts.slice(1).flatMap((end, index) => {
    const start = starts[index] as number;
    // Half a step is left out: its tool call continues into the next step.
    if (nameOf(events[start]) !== nameOf(events[end])) return [];
    const between = events.slice(start, end);
    const steps = goesOn(between) ? 2 : 1;
    const bytes = between.reduce((sum, event) => sum + HistoryEvent.encode(event).finish().length, 0);
    const ms = milliseconds(events[end] as Event) - milliseconds(events[start] as Event);
    const each = { events: between.length / steps, bytes: bytes / steps, ms: ms / steps };
    return Array.from({ length: steps }, () => each);
  });
}

/** True if the events begin with a model step that also returned the next step. */
function goesOn([scheduled, ...events]: readonly Event[]): boolean {
  if (nameOf(scheduled) !== 'modelStep') return false;
  const completed = events.find((event) => event.activityTaskCompletedEventAttributes);
  const [told] = completed?.activityTaskCompletedEventAttributes?.result?.payloads ?? [];
  return Buffer.from(told?.data ?? []).includes('"next":');
}

function asksModel(event: Event): boolean {
  if (nameOf(event) === 'modelStep') return true;
  const [input] = event.activityTaskScheduledEventAttributes?.input?.payloads ?? [];
  return nameOf(event) === 'runTool' && Buffer.from(input?.data ?? []).includes('"next":');
}

function nameOf(event: Event | undefined): string | null | undefined {
  return event?.activityTaskScheduledEventAttributes?.activityType?.name;
}

function milliseconds({ eventTime }: Event): number {
  return Number(eventTime?.seconds ?? 0) * 1000 + (eventTime?.nanos ?? 0) / 1e6;
}
