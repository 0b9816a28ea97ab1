/**
 * What the server recorded of a turn, as events, bytes and milliseconds of each of its steps: from the scheduling of the
 * activity that asks for the first one to the end. The server's timestamps are used, so neither the client's round trips
 * nor its polling are counted.
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

/** Measures the last turn of a workflow, which began when its history had `after` events. */
export async function measureTurn(
  client: Client,
  workflowId: string,
  { after = 0, steps }: { readonly after?: number; readonly steps: number },
): Promise<StepMeasure> {
  const { events: all } = await client.workflow.getHandle(workflowId).fetchHistory();
  const events = (all ?? []).slice(after);
  const first = events.findIndex(asksModel);
  const turn = events.slice(first);
  const bytes = turn.reduce((sum, event) => sum + HistoryEvent.encode(event).finish().length, 0);
  const ms = milliseconds(turn.at(-1) as Event) - milliseconds(turn[0] as Event);
  return { events: turn.length / steps, bytes: bytes / steps, ms: ms / steps };
}

function asksModel({ activityTaskScheduledEventAttributes: scheduled }: Event): boolean {
  return scheduled?.activityType?.name === 'modelStep';
}

function milliseconds({ eventTime }: Event): number {
  return Number(eventTime?.seconds ?? 0) * 1000 + (eventTime?.nanos ?? 0) / 1e6;
}
