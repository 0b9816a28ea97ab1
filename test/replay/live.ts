/**
 * Runs a scenario on a real server and returns the histories of its runs, oldest first, and then those of its subagents
 * and tasks.
 */
import type { temporal } from '@temporalio/proto';
import type { RuntimeClient } from '../../src/client/runtime-client.ts';
import { workflowIdOf } from '../../src/core/thread/start-options.ts';
import { testRuntime } from '../support/runtime.ts';
import type { Scenario } from './scenario.ts';

type History = temporal.api.history.v1.IHistory;

export async function liveScenario({ model, registry, options, live }: Scenario): Promise<History[]> {
  const script = model();
  const runtime = await testRuntime({ ...options, model: script, registry: registry?.(script) });
  const { client } = runtime;
  const threadId = await runtime.start();
  const first = await firstRun(client, threadId);
  await live(client, threadId);
  const histories = await readRuns(client, threadId, first);
  // If a run was killed, another chain of runs has begun.
  const second = await firstRun(client, threadId);
  if (second !== first) histories.push(...(await readRuns(client, threadId, second)));
  for (const { thread } of (await client.getFamily(threadId)).slice(1)) {
    histories.push(...(await readRuns(client, thread.id, await firstRun(client, thread.id))));
  }
  return histories;
}

async function firstRun({ temporal }: RuntimeClient, threadId: string): Promise<string> {
  const { raw } = await temporal.workflow.getHandle(workflowIdOf(threadId)).describe();
  return raw.workflowExecutionInfo?.firstRunId || (raw.workflowExecutionInfo?.execution?.runId as string);
}

async function readRuns({ temporal }: RuntimeClient, threadId: string, first: string): Promise<History[]> {
  const histories: History[] = [];
  for (let runId: string | undefined = first; runId !== undefined; ) {
    const history = await temporal.workflow.getHandle(workflowIdOf(threadId), runId).fetchHistory();
    histories.push(history);
    runId =
      history.events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? undefined;
  }
  return histories;
}
