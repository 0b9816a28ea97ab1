/**
 * The baseline: a workflow with the two activities of a step, doing nothing, called with a thread's own options.
 * Whatever a thread's step takes longer than this is Everthread's own cost.
 */
import { ActivityCancellationType, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { BareActivities } from './activity.ts';

const options = {
  retry: { initialInterval: '200 ms', backoffCoefficient: 1.5, maximumInterval: '5 seconds' },
  cancellationType: ActivityCancellationType.TRY_CANCEL,
} as const;

const { modelStep } = proxyActivities<BareActivities>({
  ...options,
  startToCloseTimeout: '2 hours',
  heartbeatTimeout: '5 seconds',
});
const { runTool } = proxyActivities<BareActivities>({
  ...options,
  startToCloseTimeout: '31 minutes',
  heartbeatTimeout: '10 seconds',
});

const local = proxyLocalActivities<BareActivities>({
  startToCloseTimeout: '1 second',
  retry: { maximumAttempts: 1 },
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

/** Runs steps with both activities as regular ones. */
export async function bare(steps: number): Promise<void> {
  for (let step = 0; step < steps; step++) {
    await modelStep();
    await runTool();
  }
  // A thread's turn ends with one more model call, so another step follows each of the measured ones.
  await modelStep();
}

/** Runs steps with the tool as a local activity: the least that a step with a quick tool can take. */
export async function bareQuick(steps: number): Promise<void> {
  for (let step = 0; step < steps; step++) {
    await modelStep();
    await local.runTool();
  }
  await modelStep();
}
