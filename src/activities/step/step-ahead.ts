/**
 * Activities that go on into the next step (core/thread/step-ahead.ts). The outcome before that step is already stored,
 * and the activity returns it whatever happens to the step. If the step may have begun and its outcome is not returned,
 * the result says so (`unheard`): another attempt finds it in the store.
 */
import { Context } from '@temporalio/activity';
import type {
  EffectsDue,
  ModelStepInput,
  ModelStepOutcome,
  RunRef,
  ToolAttempt,
} from '../../core/thread/step.ts';
import {
  findNext,
  type LastCallInput,
  type NextStep,
  type NextStepOffer,
  type StepInput,
  toNextInput,
  type UnknownStepOutcome,
  type WithNext,
} from '../../core/thread/step-ahead.ts';
import { LIMITS } from '../../core/value/limit.ts';
import type { ActivityDependencies, ActivityRun, Wrapped } from '../base/dependencies.ts';
import { abortSignal, resultBytes, showProgress } from '../base/guard.ts';
import { isRepeated } from '../base/run-ref.ts';

/**
 * Milliseconds to wait for the server: going on saves only a few round trips, so a slow server is not worth waiting
 * for.
 */
const DESCRIBE_TIMEOUT_MS = 1000;

const UNKNOWN_OUTCOME: UnknownStepOutcome = { kind: 'unheard' };

type Call = ToolAttempt & EffectsDue;
type Step = ModelStepOutcome & EffectsDue;
type Ahead = LastCallInput | StepInput;

/** Goes on after a call that ends its step, or after a step whose calls have all run within its activity. */
export function withNextStep(
  run: ActivityRun<Ahead, Call | Step>,
  { other }: Wrapped,
): ActivityRun<Ahead, (Call | Step) & Partial<WithNext>> {
  const step = other('modelStep', 'nextStep');
  return async (dependencies, { next: offer, ...input }) => {
    const outcome = await run(dependencies, input);
    const next = offer && findNext('ordinal' in input ? input : {}, outcome, offer);
    if (next === undefined) return outcome;
    const { executionId = input.executionId } = 'executionId' in outcome ? outcome : {};
    return runNextStep(dependencies, outcome, { ...input, executionId, next }, step);
  };
}

interface FollowingStep extends RunRef {
  readonly executionId: string;
  readonly next: NextStep;
}

/** Returns `before`, with the outcome of the next step if it was begun. */
async function runNextStep<Before extends EffectsDue>(
  dependencies: ActivityDependencies,
  before: Before,
  { threadId, storeId, executionId, next }: FollowingStep,
  step: ActivityRun<ModelStepInput, Step>,
): Promise<Before & Partial<WithNext>> {
  const mayGoOn = mayBeginNextStep(dependencies, before) && (await isHistoryUnchanged(next));
  // An earlier attempt may have begun the step.
  if (!mayGoOn) return isRepeated() ? { ...before, next: UNKNOWN_OUTCOME } : before;
  showProgress(`running step ${next.afterStep + 1}`);
  // A fault of the step is left to its own next attempt.
  const stepped: WithNext['next'] & EffectsDue = await step(dependencies, {
    threadId,
    storeId,
    ...toNextInput(executionId, next),
  }).catch(() => UNKNOWN_OUTCOME);
  const { effectsInMs, ...outcome } = stepped;
  const both = { ...before, ...(effectsInMs === undefined ? {} : { effectsInMs }), next: outcome };
  return resultBytes(both) <= LIMITS.activityResultBytes ? both : { ...before, next: UNKNOWN_OUTCOME };
}

/** True if another step may begin here. An effect that is due comes before it. */
function mayBeginNextStep(
  { leaving, lone }: ActivityDependencies,
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
