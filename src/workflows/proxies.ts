/**
 * How each activity is called. Timeouts come from the settings that `openThread` brought: the worker's
 * configuration, recorded once per run.
 * P1. Model calls and at-most-once tools are regular activities: they heartbeat, time out and are cancelled.
 * P2. Nothing is a local activity, which would be five events less: while one runs, a query, an overdue workflow task or a second one
 *     can make a replay decide otherwise, or lose a signal (docs/sdk-local-activities.md). Histories of early versions have them.
 * P3. TRY_CANCEL: a stopped step must not wait for a body that ignores its signal; the store settles it.
 * P4. Code that a model wrote waits on the workers' other queue; it is pure, so after a lost worker it runs again.
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
import { type CallRef, type Settings, sandboxQueue } from '../core/step.ts';

const STORE_RETRY = {
  initialInterval: '200 ms',
  backoffCoefficient: 2,
  maximumInterval: '30 seconds',
} as const;
const LOST_WORKER_RETRY = {
  initialInterval: '200 ms',
  backoffCoefficient: 1.5,
  maximumInterval: '5 seconds',
} as const;

const LOCAL_COMMIT: LocalActivityOptions = {
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '50 ms', maximumAttempts: 4 },
};
const COMMIT: ActivityOptions = { startToCloseTimeout: '5 minutes', retry: STORE_RETRY };
/** Where a run does not know its settings yet, or has found its thread ended. */
const UNSETTLED = { modelHeartbeatMs: 10_000 };

const regular = proxyActivities<Activities>(COMMIT);
const local = proxyLocalActivities<Activities>(LOCAL_COMMIT);

type StoreCommit = 'openThread' | 'stashItems' | 'commitStatus' | 'recordToolOutcome' | 'listUnstarted';
type Input<Name extends keyof Activities> = Parameters<Activities[Name]>[0];
type Output<Name extends keyof Activities> = Awaited<ReturnType<Activities[Name]>>;

/** TypeScript cannot follow one name through two mapped types; the activity's own signature can. */
interface Callable<Options, Name extends keyof Activities> {
  executeWithOptions(options: Options, args: [Input<Name>]): Promise<Output<Name>>;
}

/** False where a history of an early version is replayed (P2). */
export function withoutLocalActivities(): boolean {
  return patched('without-local-activities');
}

/** A short store commit: it succeeds, sooner or later, or is cancelled. */
export async function commit<Name extends StoreCommit>(
  name: Name,
  settings: Settings | undefined,
  input: Input<Name>,
  summary: string,
): Promise<Output<Name>> {
  if (!withoutLocalActivities()) {
    try {
      const activity = local[name] as unknown as Callable<LocalActivityOptions, Name>;
      return await activity.executeWithOptions({ ...LOCAL_COMMIT, summary }, [input]);
    } catch (error) {
      if (isCancellation(error)) throw error;
      log.warn(`${name} goes on as a regular activity`, { error: String(error) });
    }
  }
  const activity = regular[name] as unknown as Callable<ActivityOptions, Name>;
  const { modelHeartbeatMs: heartbeatTimeout } = settings ?? UNSETTLED;
  return activity.executeWithOptions({ ...COMMIT, heartbeatTimeout, summary }, [input]);
}

export function callModelStep(
  settings: Settings,
  input: Parameters<Activities['modelStep']>[0],
  summary: string,
) {
  return regular.modelStep.executeWithOptions({ ...modelOptions(settings), summary }, [input]);
}

function modelOptions(settings: Pick<Settings, 'modelHeartbeatMs'>): ActivityOptions {
  return {
    startToCloseTimeout: '2 hours',
    heartbeatTimeout: settings.modelHeartbeatMs,
    retry: LOST_WORKER_RETRY,
    cancellationType: ActivityCancellationType.TRY_CANCEL,
  };
}

/** Like an idempotent tool: one that was begun on a lost worker goes again, as the store counts. */
export function callRunEffects(
  settings: Settings,
  input: Parameters<Activities['runEffects']>[0],
  summary: string,
) {
  return regular.runEffects.executeWithOptions(
    {
      // The activity ends a batch and each handler itself; this is the net below it.
      startToCloseTimeout: '30 minutes',
      heartbeatTimeout: settings.toolHeartbeatMs,
      retry: LOST_WORKER_RETRY,
      cancellationType: ActivityCancellationType.TRY_CANCEL,
      summary,
    },
    [input],
  );
}

/** Like a model step: a lost worker's is asked again, and finds in the store how far it came. */
export function callSubprompt(
  settings: Settings,
  input: Parameters<Activities['runSubprompt']>[0],
  summary: string,
) {
  return regular.runSubprompt.executeWithOptions({ ...modelOptions(settings), summary }, [input]);
}

type Finish = 'finishSubprompt' | 'finishSubagent';

/** A commit around whose result hooks may take their time. */
export async function callFinish<Name extends Finish>(
  name: Name,
  settings: Settings,
  input: Input<Name>,
  summary: string,
): Promise<Output<Name>> {
  if (!withoutLocalActivities()) {
    try {
      const options = { ...LOCAL_COMMIT, retry: { maximumAttempts: 1 }, summary };
      const activity = local[name] as unknown as Callable<LocalActivityOptions, Name>;
      return await activity.executeWithOptions(options, [input]);
    } catch (error) {
      if (isCancellation(error)) throw error;
    }
  }
  const activity = regular[name] as unknown as Callable<ActivityOptions, Name>;
  return activity.executeWithOptions({ ...modelOptions(settings), summary }, [input]);
}

/** Like a sub-prompt's: whoever comes again finds the child by the call. */
export function callSubagent(
  settings: Settings,
  input: Parameters<Activities['callSubagent']>[0],
  summary: string,
) {
  return regular.callSubagent.executeWithOptions({ ...modelOptions(settings), summary }, [input]);
}

/** Files are copied: it may take its time. */
export function callReport(
  settings: Settings | undefined,
  input: Parameters<Activities['reportToParent']>[0],
  summary: string,
) {
  const options = modelOptions(settings ?? UNSETTLED);
  return regular.reportToParent.executeWithOptions({ ...options, summary }, [input]);
}

/** For the hooks behind a tool: several may take their whole 30 seconds. */
const HOOKS_MS = 5 * 60_000;

type ToolInput = Parameters<Activities['runTool']>[0];

/** A quick tool of early versions (P2): fails when it takes longer than a second. */
export function callQuickTool(input: ToolInput, summary: string) {
  return local.runTool.executeWithOptions(
    {
      startToCloseTimeout: '1 second',
      retry: { maximumAttempts: 1 },
      cancellationType: ActivityCancellationType.TRY_CANCEL,
      summary,
    },
    [input],
  );
}

export function callTool(settings: Settings, call: CallRef, input: ToolInput, summary: string) {
  const options = { ...toolOptions(settings, call), summary };
  if (call.mode !== 'code') return regular.runTool.executeWithOptions(options, [input]);
  const taskQueue = sandboxQueue(workflowInfo().taskQueue);
  return regular.runCode.executeWithOptions({ ...options, taskQueue }, [input]);
}

function toolOptions(settings: Settings, call: CallRef): ActivityOptions {
  return {
    // The activity itself ends a body at timeoutMs and says so; this is the net below it, hooks included.
    startToCloseTimeout: call.timeoutMs + HOOKS_MS,
    heartbeatTimeout: settings.toolHeartbeatMs,
    retry: call.mode === 'once' ? { maximumAttempts: 1 } : LOST_WORKER_RETRY,
    cancellationType: ActivityCancellationType.TRY_CANCEL,
  };
}
