/**
 * Activities that go on into the next step (core/thread/next-step.ts). The outcome before that step is already stored,
 * and the activity returns it whatever happens to the step. If the step may have begun and its outcome is not returned,
 * the result says so (`unheard`): another attempt finds it in the store.
 */
import { Context } from '@temporalio/activity';
import type { EffectsDue } from '../../core/thread/effect-batch.ts';
import {
  type CallWithNext,
  findNext,
  type LastCallInput,
  type NextStep,
  type NextStepOffer,
  type StepInput,
  type StepWithNext,
  toNextInput,
  type UnknownStepOutcome,
  type WithNext,
} from '../../core/thread/next-step.ts';
import type { ModelStepInput, ModelStepOutcome, RunRef, ToolCallInput } from '../../core/thread/step.ts';
import type { ToolAttempt } from '../../core/thread/wait-step.ts';
import { LIMITS } from '../../core/value/limit.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { type Activity, abortSignal, resultBytes } from '../base/guard.ts';
import { showProgress } from '../base/progress.ts';

/**
 * Milliseconds to wait for the server: going on saves only a few round trips, so a slow server is not worth waiting
 * for.
 */
const DESCRIBE_TIMEOUT_MS = 1000;

const UNKNOWN_OUTCOME: UnknownStepOutcome = { kind: 'unheard' };

type Dependencies = Pick<ActivityDependencies, 'leaving' | 'lone'>;
type Call = ToolAttempt & EffectsDue;
type Step = ModelStepOutcome & EffectsDue;

/** Goes on after a call that ends its step. */
export function withNextStep(
  dependencies: Dependencies,
  call: Activity<ToolCallInput, Call>,
  step: Activity<ModelStepInput, Step>,
): Activity<LastCallInput, Call | (CallWithNext & EffectsDue)> {
  return async (input) => {
    const called = await call(input);
    const { next, executionId } = input;
    if (next === undefined || called.kind !== 'done' || called.directive !== undefined) return called;
    return runNextStep(dependencies, called, { ...input, executionId, next }, step);
  };
}

/** Goes on after a step whose calls have all run within its activity. */
export function withNextAfterStep(
  dependencies: Dependencies,
  step: Activity<ModelStepInput, Step>,
): Activity<StepInput, Step | (StepWithNext & EffectsDue)> {
  return async ({ next: offer, ...input }) => {
    const outcome = await step(input);
    const next = offer && findNext(input, outcome, offer);
    if (next === undefined || outcome.kind !== 'step') return outcome;
    const { executionId = input.executionId } = outcome;
    return runNextStep(dependencies, outcome, { ...input, executionId, next }, step);
  };
}

interface FollowingStep extends RunRef {
  readonly executionId: string;
  readonly next: NextStep;
}

/** Returns `told`, with the outcome of the next step if it was begun. */
async function runNextStep<Told extends EffectsDue>(
  dependencies: Dependencies,
  stepOutcome: Told,
  { threadId, storeId, executionId, next }: FollowingStep,
  step: Activity<ModelStepInput, Step>,
): Promise<Told | (Told & WithNext)> {
  const mayGoOn = mayBeginNextStep(dependencies, stepOutcome) && (await isHistoryUnchanged(next));
  // An earlier attempt may have begun the step.
  if (!mayGoOn)
    return Context.current().info.attempt > 1 ? { ...stepOutcome, next: UNKNOWN_OUTCOME } : stepOutcome;
  showProgress(`running step ${next.afterStep + 1}`);
  // A fault of the step is left to its own next attempt.
  const stepped: WithNext['next'] & EffectsDue = await step({
    ...{ threadId, storeId },
    ...toNextInput(executionId, next),
  }).catch(() => UNKNOWN_OUTCOME);
  const { effectsInMs, ...outcome } = stepped;
  const both = { ...stepOutcome, ...(effectsInMs === undefined ? {} : { effectsInMs }), next: outcome };
  return resultBytes(both) <= LIMITS.activityResultBytes ? both : { ...stepOutcome, next: UNKNOWN_OUTCOME };
}

/** True if another step may begin here. An effect that is due comes before it. */
function mayBeginNextStep(
  { leaving, lone }: Dependencies,
  { effectsInMs = Number.POSITIVE_INFINITY }: EffectsDue,
): boolean {
  return effectsInMs > 0 && !lone && !leaving.aborted && !abortSignal().aborted;
}

/** True if the workflow has received nothing since it scheduled this activity: no message, no request, no timer. */
async function isHistoryUnchanged({ historyLength }: NextStepOffer): Promise<boolean> {
  const { client, info } = Context.current();
  const { workflowId, runId } = info.workflowExecution ?? {};
  if (workflowId === undefined) return false;
  const request = { namespace: info.namespace, execution: { workflowId, runId } };
  const describe = () => client.workflowService.describeWorkflowExecution(request);
  const seen = await client.withDeadline(Date.now() + DESCRIBE_TIMEOUT_MS, describe).catch(() => undefined);
  const length = seen?.workflowExecutionInfo?.historyLength;
  return !seen?.pendingWorkflowTask && length?.toString() === String(historyLength);
}
