/** The workflow runs that a thread has had through continue-as-new, as their histories tell. */
import type { RuntimeClient } from '../../src/client/runtime-client.ts';

export interface ChainedRun {
  readonly runId: string;
  readonly events: number;
  /** Bytes of its start input: what the run before carried over. */
  readonly inputBytes: number;
  readonly continued: boolean;
}

/** Oldest first. */
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
