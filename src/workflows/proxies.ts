/**
 * How each activity is called: its queue, its timeouts, its retries.
 * P1. Model calls and at-most-once tools are regular activities: they heartbeat, time out and are cancelled.
 * P2. There are no local activities, although they would save five events each. While one runs, a query, an overdue
 *     workflow task or another local activity can make a replay diverge, or lose a signal
 *     (docs/sdk-local-activities.md). Histories of early versions contain local activities.
 * P3. TRY_CANCEL: a stopped step must not wait for a body that ignores its signal; the store settles it.
 * P4. Code that a model wrote uses the separate sandbox queue; it is pure, so after a lost worker it runs again.
 */

import {
  ActivityCancellationType,
  type ActivityOptions,
  isCancellation,
  type LocalActivityOptions,
  log,
  patched,
  proxyActivities,
  proxyLocalActivities,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { Settings } from '../core/thread/open-thread.ts';
import { type CallRef, sandboxQueue } from '../core/thread/step.ts';
import { errorMessage } from '../core/value/thrown.ts';

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

const LOCAL_COMMIT: LocalActivityOptions = {
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '50 ms', maximumAttempts: 4 },
};
const LOCAL_FINISH: LocalActivityOptions = { ...LOCAL_COMMIT, retry: { maximumAttempts: 1 } };
export const COMMIT: ActivityOptions = { startToCloseTimeout: '5 minutes', retry: STORE_RETRY };

const regularActivities = proxyActivities<Activities>(COMMIT);
const localActivities = proxyLocalActivities<Activities>(LOCAL_COMMIT);

/** One activity, called with options. */
interface Callable<Options, Input, Output> {
  executeWithOptions(options: Options, args: [Input]): Promise<Output>;
}

/** An activity that is a local activity in histories of early versions (P2). */
interface StoreActivity<Input, Output> {
  readonly name: string;
  readonly regular: Callable<ActivityOptions, Input, Output>;
  readonly local: Callable<LocalActivityOptions, Input, Output>;
}

function storeActivity<Input, Output>(
  name: string,
  asRegular: Callable<ActivityOptions, Input, Output>,
  asLocal: Callable<LocalActivityOptions, Input, Output>,
): StoreActivity<Input, Output> {
  return { name, regular: asRegular, local: asLocal };
}

export const STORE = {
  openThread: storeActivity('openThread', regularActivities.openThread, localActivities.openThread),
  stashItems: storeActivity('stashItems', regularActivities.stashItems, localActivities.stashItems),
  cancelExecution: storeActivity(
    'cancelExecution',
    regularActivities.cancelExecution,
    localActivities.cancelExecution,
  ),
  commitStatus: storeActivity('commitStatus', regularActivities.commitStatus, localActivities.commitStatus),
  recordToolOutcome: storeActivity(
    'recordToolOutcome',
    regularActivities.recordToolOutcome,
    localActivities.recordToolOutcome,
  ),
  listUnstarted: storeActivity(
    'listUnstarted',
    regularActivities.listUnstarted,
    localActivities.listUnstarted,
  ),
  finishSubprompt: storeActivity(
    'finishSubprompt',
    regularActivities.finishSubprompt,
    localActivities.finishSubprompt,
  ),
  finishSubagent: storeActivity(
    'finishSubagent',
    regularActivities.finishSubagent,
    localActivities.finishSubagent,
  ),
};

type Input<Name extends keyof Activities> = Parameters<Activities[Name]>[0];

/** False if a history of an early version is replayed (P2). */
export function withoutLocalActivities(): boolean {
  return patched('without-local-activities');
}

/** Runs a short store commit, which is retried until it succeeds or is cancelled. */
export async function commit<Input, Output>(
  activity: StoreActivity<Input, Output>,
  { modelHeartbeatMs: heartbeatTimeout }: Heartbeats,
  input: Input,
  summary: string,
): Promise<Output> {
  if (!withoutLocalActivities()) {
    try {
      return await activity.local.executeWithOptions({ ...LOCAL_COMMIT, summary }, [input]);
    } catch (error) {
      if (isCancellation(error)) throw error;
      log.warn(`${activity.name} goes on as a regular activity`, { error: errorMessage(error) });
    }
  }
  return activity.regular.executeWithOptions({ ...COMMIT, heartbeatTimeout, summary }, [input]);
}

export function callAnswerWait(
  { modelHeartbeatMs: heartbeatTimeout }: Heartbeats,
  input: Input<'answerWait'>,
  summary: string,
) {
  return regularActivities.answerWait.executeWithOptions({ ...COMMIT, heartbeatTimeout, summary }, [input]);
}

/** Runs a commit whose result passes through hooks, so it may take long. */
export async function callFinish<Input, Output>(
  activity: StoreActivity<Input, Output>,
  heartbeats: Heartbeats,
  input: Input,
  summary: string,
): Promise<Output> {
  if (!withoutLocalActivities()) {
    try {
      return await activity.local.executeWithOptions({ ...LOCAL_FINISH, summary }, [input]);
    } catch (error) {
      if (isCancellation(error)) throw error;
    }
  }
  return activity.regular.executeWithOptions({ ...modelOptions(heartbeats), summary }, [input]);
}

export function callModelStep(heartbeats: Heartbeats, input: Input<'modelStep'>, summary: string) {
  return regularActivities.modelStep.executeWithOptions({ ...modelOptions(heartbeats), summary }, [input]);
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
  return regularActivities.runEffects.executeWithOptions(
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
  return regularActivities.runSubprompt.executeWithOptions({ ...modelOptions(heartbeats), summary }, [input]);
}

/** Retried like a sub-prompt: another attempt finds the child by the call. */
export function callSubagent(heartbeats: Heartbeats, input: Input<'callSubagent'>, summary: string) {
  return regularActivities.callSubagent.executeWithOptions({ ...modelOptions(heartbeats), summary }, [input]);
}

/** Has the long timeout of a model step, because files are copied. */
export function callReport(heartbeats: Heartbeats, input: Input<'reportToParent'>, summary: string) {
  return regularActivities.reportToParent.executeWithOptions({ ...modelOptions(heartbeats), summary }, [
    input,
  ]);
}

/** Additional time for the hooks after a tool: several may take their whole 30 seconds. */
const HOOKS_MS = 5 * 60_000;

/** Runs a quick tool as early versions did (P2): fails if it takes longer than a second. */
export function callQuickTool(input: Input<'runTool'>, summary: string) {
  return localActivities.runTool.executeWithOptions(
    {
      startToCloseTimeout: '1 second',
      retry: { maximumAttempts: 1 },
      cancellationType: ActivityCancellationType.TRY_CANCEL,
      summary,
    },
    [input],
  );
}

export function callTool(heartbeats: Heartbeats, call: CallRef, input: Input<'runTool'>, summary: string) {
  const own = toolOptions(heartbeats, call);
  const options = { ...own, ...(input.next ? nextStepTimeouts(heartbeats) : {}), summary };
  if (call.mode !== 'code') return regularActivities.runTool.executeWithOptions(options, [input]);
  const taskQueue = sandboxQueue(workflowInfo().taskQueue);
  return regularActivities.runCode.executeWithOptions({ ...options, taskQueue }, [input]);
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
