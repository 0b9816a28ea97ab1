/** Reads the workflow runs of a thread, linked by continue-as-new, from their histories. */
import type { RuntimeClient } from '../../src/client/runtime-client.ts';

export interface ChainedRun {
  readonly runId: string;
  readonly events: number;
  /** Size of the start input in bytes: the state that the previous run carried over. */
  readonly inputBytes: number;
  readonly continued: boolean;
}

/** Returns the runs of a thread, oldest first. */
export async function readRuns(client: RuntimeClient, threadId: string): Promise<ChainedRun[]> {
  const runs: ChainedRun[] = [];
  let runId: string | undefined;
  do {
    const { events = [] } = await client.temporal.workflow
      .getHandle(`thread/${threadId}`, runId)
      .fetchHistory();
    const started = events?.[0]?.workflowExecutionStartedEventAttributes;
    const payloads = started?.input?.payloads ?? [];
    const before = started?.continuedExecutionRunId || undefined;
    runs.unshift({
      runId: started?.originalExecutionRunId ?? '',
      events: events?.length ?? 0,
      inputBytes: payloads.reduce((sum, { data }) => sum + (data?.length ?? 0), 0),
      continued: before !== undefined,
    });
    runId = before;
  } while (runId);
  return runs;
}
