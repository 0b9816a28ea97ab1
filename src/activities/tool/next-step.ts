/**
 * A call that ends its step goes on into the next step, within its own activity (core/thread/next-step.ts). The call's result is in the
 * store by then, and whatever happens to the step, the activity answers with it. Of a step that may have begun, and is not told, it says so:
 * another attempt finds it in the store.
 */
import { Context } from '@temporalio/activity';
import type { EffectsDue } from '../../core/thread/effect-batch.ts';
import {
  type GoneOn,
  type LastCallInput,
  type NextStep,
  toNextInput,
  type UnheardStep,
} from '../../core/thread/next-step.ts';
import type { ModelStepInput, ModelStepOutcome, ToolCallInput } from '../../core/thread/step.ts';
import type { ToolAttempt } from '../../core/thread/wait-step.ts';
import { LIMITS } from '../../core/value/limit.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { type Activity, abortSignal, resultBytes } from '../base/guard.ts';
import { showProgress } from '../base/progress.ts';

/** Going on saves a few round trips to the server: one that is slow to answer is waited for no longer. */
const ANSWER_MS = 1000;

const UNHEARD: UnheardStep = { kind: 'unheard' };

type Call = ToolAttempt & EffectsDue;
type Step = ModelStepOutcome & EffectsDue;
type Next = GoneOn['next'];

export function withNextStep(
  dependencies: Pick<ActivityDependencies, 'leaving' | 'lone'>,
  call: Activity<ToolCallInput, Call>,
  step: Activity<ModelStepInput, Step>,
): Activity<LastCallInput, Call | (GoneOn & EffectsDue)> {
  return async (input) => {
    const called = await call(input);
    const { next, threadId, storeId, executionId } = input;
    if (next === undefined || called.kind !== 'done' || called.directive !== undefined) return called;
    const mayGoOn = goesOn(dependencies, called) && (await isUndisturbed(next));
    // The attempt before may have begun it.
    if (!mayGoOn) return Context.current().info.attempt > 1 ? { ...called, next: UNHEARD } : called;
    showProgress(`asking for step ${next.afterStep + 1}`);
    // Whatever it meets is not the call's.
    const stepped: Next & EffectsDue = await step({
      ...{ threadId, storeId },
      ...toNextInput(executionId, next),
    }).catch(() => UNHEARD);
    const { effectsInMs, ...outcome } = stepped;
    const both = { ...called, ...(effectsInMs === undefined ? {} : { effectsInMs }), next: outcome };
    return resultBytes(both) <= LIMITS.activityResultBytes ? both : { ...called, next: UNHEARD };
  };
}

/** An effect that is due comes before another step. */
function goesOn(
  { leaving, lone }: Pick<ActivityDependencies, 'leaving' | 'lone'>,
  { effectsInMs = Number.POSITIVE_INFINITY }: EffectsDue,
): boolean {
  return effectsInMs > 0 && !lone && !leaving.aborted && !abortSignal().aborted;
}

/** The workflow has heard nothing since it has scheduled this activity: no message, no request, no timer. */
async function isUndisturbed({ historyLength }: NextStep): Promise<boolean> {
  const { client, info } = Context.current();
  const { workflowId, runId } = info.workflowExecution ?? {};
  if (workflowId === undefined) return false;
  const request = { namespace: info.namespace, execution: { workflowId, runId } };
  const describe = () => client.workflowService.describeWorkflowExecution(request);
  const seen = await client.withDeadline(Date.now() + ANSWER_MS, describe).catch(() => undefined);
  const length = seen?.workflowExecutionInfo?.historyLength;
  return !seen?.pendingWorkflowTask && length?.toString() === String(historyLength);
}
