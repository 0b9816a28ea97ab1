/** What a thread's run has asked of workers, in order, as its history tells. */
import type { RuntimeClient } from '../../src/client/runtime-client.ts';

export interface ScheduledActivity {
  readonly name: string;
  /** As the Web UI shows it. */
  readonly summary: string;
}

export async function scheduledOf(
  { temporal }: Pick<RuntimeClient, 'temporal'>,
  threadId: string,
): Promise<ScheduledActivity[]> {
  const { events } = await temporal.workflow.getHandle(`thread/${threadId}`).fetchHistory();
  return (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled, userMetadata }) => {
    const name = scheduled?.activityType?.name;
    const summary = Buffer.from(userMetadata?.summary?.data ?? '""').toString();
    return name ? [{ name, summary: JSON.parse(summary) as string }] : [];
  });
}

export async function activitiesOf(
  client: Pick<RuntimeClient, 'temporal'>,
  threadId: string,
): Promise<string[]> {
  return (await scheduledOf(client, threadId)).map(({ name }) => name);
}
