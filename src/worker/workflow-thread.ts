/** The entry of a workflow thread: installs `context-guard` and `pending-stacks`, then runs the SDK's script. */
import { workerData } from 'node:worker_threads';
import { EntryNote, guardContexts } from './context-guard.ts';
import { keepPendingStacks } from './pending-stacks.ts';

const { entries } = workerData as { entries: SharedArrayBuffer };
guardContexts(new EntryNote(entries));
keepPendingStacks();
// The SDK's script; from here on the thread handles messages of its parent.
await import('@temporalio/worker/lib/workflow/workflow-worker-thread.js');
