/** What a workflow thread runs: the SDK's own script, behind the guard of its context. */
import { type MessagePort, workerData } from 'node:worker_threads';
import { guardContexts } from './context-guard.ts';

const { alarm } = workerData as { alarm: MessagePort };
guardContexts((culprit) => alarm.postMessage(culprit));
// It listens to its parent from here on.
await import('@temporalio/worker/lib/workflow/workflow-worker-thread.js');
