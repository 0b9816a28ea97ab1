/** Replays histories of threads; throws if the code makes another decision than the history holds. */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HistoryAndWorkflowId } from '@temporalio/client';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { Worker } from '@temporalio/worker';
import type { RuntimeClient } from '../../src/client/runtime-client.ts';
import '../once/replays.ts';

const replayer = () => ({ workflowBundle: { codePath: process.env.EVERTHREAD_TEST_BUNDLE as string } });

/** Replays the current run of a thread. */
export async function replayRun(client: RuntimeClient, threadId: string): Promise<void> {
  const workflowId = `thread/${threadId}`;
  const history = await client.temporal.workflow.getHandle(workflowId).fetchHistory();
  await Worker.runReplayHistory(replayer(), history, workflowId);
}

/**
 * Replays every run of every workflow of a task queue; returns a line for each that diverged, and writes its history to
 * a file.
 */
export async function replayAll(client: RuntimeClient, taskQueue: string): Promise<string[]> {
  const diverged: string[] = [];
  let last: HistoryAndWorkflowId | undefined;
  // Each history is replayed before the next is fetched.
  const histories = async function* () {
    const listed = client.temporal.workflow.list({ query: `TaskQueue = '${taskQueue}'` });
    for await (last of listed.intoHistories()) yield last;
  };
  for await (const { workflowId, error } of Worker.runReplayHistories(replayer(), histories())) {
    if (!error) continue;
    const file = join(tmpdir(), `everthread-diverged-${randomUUID()}.json`);
    writeFileSync(file, historyToJSON(last?.history as History));
    diverged.push(`${workflowId}: ${error.message}; its history: ${file}`);
  }
  return diverged;
}
