/**
 * The SDK runs replays in the thread of whoever asks, and for the first one of a process it begins to listen for rejections that
 * nobody handles, for good. It does so here, as part of what is loaded, and not in the midst of whichever test replays first.
 */
import { ReusableVMWorkflowCreator } from '@temporalio/worker/lib/workflow/reusable-vm.js';
import { setUnhandledRejectionHandler } from '@temporalio/worker/lib/workflow/vm-shared.js';

/** What the SDK keeps for itself. */
interface Kept {
  unhandledRejectionHandlerHasBeenSet: boolean;
  readonly workflowByRunId: { get: Parameters<typeof setUnhandledRejectionHandler>[0] };
}

const kept = ReusableVMWorkflowCreator as unknown as Kept;
if (!kept.unhandledRejectionHandlerHasBeenSet) {
  setUnhandledRejectionHandler((runId) => kept.workflowByRunId.get(runId));
  kept.unhandledRejectionHandlerHasBeenSet = true;
}
