/** The entry of a workflow thread: the SDK's own script, behind the guard of its context, with our record of pending promises. */
import { type MessagePort, workerData } from 'node:worker_threads';
import { guardContexts } from './context-guard.ts';
import { keepPendingStacks } from './pending-stacks.ts';

const { alarm } = workerData as { alarm: MessagePort };
guardContexts((culprit) => alarm.postMessage(culprit));
keepPendingStacks();
// From here on it listens to its parent.
await import('@temporalio/worker/lib/workflow/workflow-worker-thread.js');
