/**
 * Installs the SDK's handler of unhandled rejections while the file loads. The SDK runs replays in the caller's thread,
 * and installs that handler permanently for the first replay of a process, which would otherwise be in the middle of
 * some test.
 */
import { ReusableVMWorkflowCreator } from '@temporalio/worker/lib/workflow/reusable-vm.js';
import { setUnhandledRejectionHandler } from '@temporalio/worker/lib/workflow/vm-shared.js';

/** Private static state of the SDK. */
interface Kept {
  unhandledRejectionHandlerHasBeenSet: boolean;
  readonly workflowByRunId: { get: Parameters<typeof setUnhandledRejectionHandler>[0] };
}

const kept = ReusableVMWorkflowCreator as unknown as Kept;
if (!kept.unhandledRejectionHandlerHasBeenSet) {
  setUnhandledRejectionHandler((runId) => kept.workflowByRunId.get(runId));
  kept.unhandledRejectionHandlerHasBeenSet = true;
}
