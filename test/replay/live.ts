/** Lives a scenario on a real server and answers the histories of its runs, oldest first. */
import type { temporal } from '@temporalio/proto';
import { testRuntime } from '../support/runtime.ts';
import type { Scenario } from './scenarios.ts';

type History = temporal.api.history.v1.IHistory;

export async function liveScenario({ model, options, live }: Scenario): Promise<History[]> {
  const runtime = await testRuntime({ ...options, model: model() });
  const { client } = runtime;
  const threadId = await runtime.start();
  const first = await client.temporal.workflow.getHandle(`thread/${threadId}`).describe();
  await live(client, threadId);
  const histories: History[] = [];
  for (let runId: string | undefined = first.runId; runId !== undefined; ) {
    const history = await client.temporal.workflow.getHandle(`thread/${threadId}`, runId).fetchHistory();
    histories.push(history);
    runId =
      history.events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? undefined;
  }
  return histories;
}
