/** The entry of a workflow thread: the SDK's own script, behind the guard of its context. */
import { type MessagePort, workerData } from 'node:worker_threads';
import { guardContexts } from './context-guard.ts';

const { alarm } = workerData as { alarm: MessagePort };
guardContexts((culprit) => alarm.postMessage(culprit));
// From here on it listens to its parent.
await import('@temporalio/worker/lib/workflow/workflow-worker-thread.js');
