/** Reads the activities that a thread's run has scheduled, in order, from its history. */
import type { RuntimeClient } from '../../src/client/runtime-client.ts';

export interface ScheduledActivity {
  readonly name: string;
  /** Summary of the activity, as the Web UI shows it. */
  readonly summary: string;
}

export async function scheduledOf(
  client: Pick<RuntimeClient, 'temporal'>,
  threadId: string,
): Promise<ScheduledActivity[]> {
  return (await eventsOf(client, threadId)).map(({ name, event }) => ({
    name,
    summary: JSON.parse(Buffer.from(event.userMetadata?.summary?.data ?? '""').toString()) as string,
  }));
}

export async function activitiesOf(
  client: Pick<RuntimeClient, 'temporal'>,
  threadId: string,
): Promise<string[]> {
  return (await eventsOf(client, threadId)).map(({ name }) => name);
}

/** Returns the inputs of all activities of one name. */
export async function inputsOf<Input>(
  client: Pick<RuntimeClient, 'temporal'>,
  threadId: string,
  wanted: string,
): Promise<Input[]> {
  const events = await eventsOf(client, threadId);
  return events.flatMap(({ name, input }) =>
    name === wanted ? [JSON.parse(Buffer.from(input?.data ?? []).toString()) as Input] : [],
  );
}

async function eventsOf({ temporal }: Pick<RuntimeClient, 'temporal'>, threadId: string) {
  const { events } = await temporal.workflow.getHandle(`thread/${threadId}`).fetchHistory();
  return (events ?? []).flatMap((event) => {
    const { activityType, input } = event.activityTaskScheduledEventAttributes ?? {};
    return activityType?.name ? [{ name: activityType.name, input: input?.payloads?.[0], event }] : [];
  });
}
