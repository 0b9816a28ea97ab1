/** Replays what a thread's present run has lived: a decision that a replay would not make again throws. */
import { Worker } from '@temporalio/worker';
import type { RuntimeClient } from '../../src/client/runtime-client.ts';

export async function replayRun(client: RuntimeClient, threadId: string): Promise<void> {
  const workflowId = `thread/${threadId}`;
  const history = await client.temporal.workflow.getHandle(workflowId).fetchHistory();
  const workflowBundle = { codePath: process.env.EVERTHREAD_TEST_BUNDLE as string };
  await Worker.runReplayHistory({ workflowBundle }, history, workflowId);
}
