/**
 * How each activity is called: its queue, its timeouts, its retries.
 * P1. Model calls and at-most-once tools are regular activities: they heartbeat, time out and are cancelled.
 * P2. There are no local activities, although they would save five events each. While one runs, a query, an overdue
 *     workflow task or another local activity can make a replay diverge, or lose a signal
 *     (docs/sdk-local-activities.md).
 * P3. TRY_CANCEL: a stopped step must not wait for a body that ignores its signal; the store settles it.
 * P4. Code that a model wrote uses the separate sandbox queue; it is pure, so after a lost worker it runs again.
 */

import {
  ActivityCancellationType,
  type ActivityOptions,
  proxyActivities,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { Settings } from '../core/thread/open-thread.ts';
import { type CallRef, sandboxQueue } from '../core/thread/step.ts';

/** Time without heartbeats after which a worker counts as lost; from the settings that `openThread` returns. */
export type Heartbeats = Pick<Settings, 'modelHeartbeatMs' | 'toolHeartbeatMs'>;

const STORE_RETRY = {
  initialInterval: '200 ms',
  backoffCoefficient: 2,
  maximumInterval: '30 seconds',
} as const;
export const LOST_WORKER_RETRY = {
  initialInterval: '200 ms',
  backoffCoefficient: 1.5,
  maximumInterval: '5 seconds',
} as const;

export const COMMIT: ActivityOptions = { startToCloseTimeout: '5 minutes', retry: STORE_RETRY };

export const ACTIVITIES = proxyActivities<Activities>(COMMIT);

/** One activity, called with options. */
interface Callable<Input, Output> {
  executeWithOptions(options: ActivityOptions, args: [Input]): Promise<Output>;
}

type Input<Name extends keyof Activities> = Parameters<Activities[Name]>[0];

/** Runs a short store commit, which is retried until it succeeds or is cancelled. */
export function commit<Input, Output>(
  activity: Callable<Input, Output>,
  { modelHeartbeatMs: heartbeatTimeout }: Heartbeats,
  input: Input,
  summary: string,
): Promise<Output> {
  return activity.executeWithOptions({ ...COMMIT, heartbeatTimeout, summary }, [input]);
}

/** Runs a commit whose result passes through hooks, so it may take long. */
export function callFinish<Input, Output>(
  activity: Callable<Input, Output>,
  heartbeats: Heartbeats,
  input: Input,
  summary: string,
): Promise<Output> {
  return activity.executeWithOptions({ ...modelOptions(heartbeats), summary }, [input]);
}

export function callModelStep(heartbeats: Heartbeats, input: Input<'modelStep'>, summary: string) {
  return ACTIVITIES.modelStep.executeWithOptions({ ...modelOptions(heartbeats), summary }, [input]);
}

function modelOptions({ modelHeartbeatMs }: Heartbeats): ActivityOptions {
  return {
    // The timeouts of its models end the activity; missing heartbeats reveal a lost worker.
    startToCloseTimeout: '7 days',
    heartbeatTimeout: modelHeartbeatMs,
    retry: LOST_WORKER_RETRY,
    cancellationType: ActivityCancellationType.TRY_CANCEL,
  };
}

/** Retried like an idempotent tool: an effect that a lost worker had begun runs again, as often as the store allows. */
export function callRunEffects(heartbeats: Heartbeats, input: Input<'runEffects'>, summary: string) {
  return ACTIVITIES.runEffects.executeWithOptions(
    {
      // The activity itself bounds a batch and each handler; this timeout is only a fallback.
      startToCloseTimeout: '30 minutes',
      heartbeatTimeout: heartbeats.toolHeartbeatMs,
      retry: LOST_WORKER_RETRY,
      cancellationType: ActivityCancellationType.TRY_CANCEL,
      summary,
    },
    [input],
  );
}

/** Retried like a model step: after a lost worker it continues from its state in the store. */
export function callSubprompt(heartbeats: Heartbeats, input: Input<'runSubprompt'>, summary: string) {
  return ACTIVITIES.runSubprompt.executeWithOptions({ ...modelOptions(heartbeats), summary }, [input]);
}

/** Retried like a sub-prompt: another attempt finds the child by the call. */
export function callSubagent(heartbeats: Heartbeats, input: Input<'callSubagent'>, summary: string) {
  return ACTIVITIES.callSubagent.executeWithOptions({ ...modelOptions(heartbeats), summary }, [input]);
}

/** Has the long timeout of a model step, because files are copied. */
export function callReport(heartbeats: Heartbeats, input: Input<'reportToParent'>, summary: string) {
  return ACTIVITIES.reportToParent.executeWithOptions({ ...modelOptions(heartbeats), summary }, [input]);
}

/** Additional time for the hooks after a tool: several may take their whole 30 seconds. */
const HOOKS_MS = 5 * 60_000;

export function callTool(heartbeats: Heartbeats, call: CallRef, input: Input<'runTool'>, summary: string) {
  const own = toolOptions(heartbeats, call);
  const options = { ...own, ...(input.next ? nextStepTimeouts(heartbeats) : {}), summary };
  if (call.mode !== 'code') return ACTIVITIES.runTool.executeWithOptions(options, [input]);
  const taskQueue = sandboxQueue(workflowInfo().taskQueue);
  return ACTIVITIES.runCode.executeWithOptions({ ...options, taskQueue }, [input]);
}

/** For a call that may go on into a model step: the timeout of a model step, and the shorter of both heartbeats. */
function nextStepTimeouts({ modelHeartbeatMs, toolHeartbeatMs }: Heartbeats) {
  const { startToCloseTimeout } = modelOptions({ modelHeartbeatMs, toolHeartbeatMs });
  return { startToCloseTimeout, heartbeatTimeout: Math.min(modelHeartbeatMs, toolHeartbeatMs) };
}

function toolOptions({ toolHeartbeatMs }: Heartbeats, call: CallRef): ActivityOptions {
  return {
    // The activity itself ends and reports a body at timeoutMs; this timeout, which includes hooks, is only a fallback.
    startToCloseTimeout: call.timeoutMs + HOOKS_MS,
    heartbeatTimeout: toolHeartbeatMs,
    retry: call.mode === 'once' ? { maximumAttempts: 1 } : LOST_WORKER_RETRY,
    cancellationType: ActivityCancellationType.TRY_CANCEL,
  };
}
