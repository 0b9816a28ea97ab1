/**
 * One step (runtime §3): the model activity, then its tool calls one after another in the returned order, then
 * the stop rules. Decisions are core's; this file is their order.
 */
import { CancellationScope, isCancellation } from '@temporalio/workflow';
import type { CallRef, ModelStepOutcome, StoredError } from '../core/step.ts';
import { evaluateStop, type StopReason } from '../core/stop.ts';
import { showActivity, showStatus } from './presence.ts';
import { callModelStep } from './proxies.ts';
import { stashBehind, stashOnce } from './stash.ts';
import type { ThreadRun } from './thread-run.ts';
import { runToolCall } from './tool-call.ts';

export type StepEnd =
  /** The turn goes on with another step. */
  | { readonly kind: 'goes_on' }
  | { readonly kind: 'stops'; readonly reason?: StopReason }
  | { readonly kind: 'fails'; readonly error: StoredError }
  /** `stop`, `terminate` or Cancel cut it short; the store settles what it left. */
  | { readonly kind: 'aborted' };

export async function runStep(run: ThreadRun): Promise<StepEnd> {
  if (run.queue.mustStash) await stashOnce(run);
  showStatus(run, 'running');
  const scope = new CancellationScope();
  run.scope = scope;
  // A stop that came while arrivals were handed to the store found no scope to cancel.
  if (run.stopRequest || run.ending) scope.cancel();
  try {
    return await stashBehind(
      run,
      scope.run(() => stepCycle(run)),
    );
  } catch (error) {
    if (isCancellation(error)) return { kind: 'aborted' };
    // A fault of this code fails the workflow task instead: it is tried again, and a repaired worker goes on.
    if ((error as Error).name !== 'ActivityFailure') throw error;
    // The step could not even be tried: what it took may not be stored, and trying on would go round for ever.
    run.parked = true;
    return { kind: 'fails', error: toStoredError(error) };
  } finally {
    run.scope = undefined;
  }
}

async function stepCycle(run: ThreadRun): Promise<StepEnd> {
  const items = run.queue.take();
  showActivity(run, `asking ${run.model || 'the model'}`);
  const outcome = await callModelStep(
    run.settings as NonNullable<typeof run.settings>,
    {
      ...run.ref,
      ordinal: run.nextOrdinal(),
      executionId: run.currentExecution(),
      afterStep: run.afterStep,
      items,
      rejections: run.takeRejections(),
    },
    `step ${run.totalSteps + 1} · ${run.model || run.agent}`,
  );
  if (outcome.kind === 'terminated') {
    run.dead = true;
    return { kind: 'aborted' };
  }
  run.queue.settle(items, outcome.swept);
  switch (outcome.kind) {
    case 'nothing_to_do':
      run.afterStep = outcome.step;
      return { kind: 'stops' };
    case 'failed':
      run.afterStep = outcome.step;
      run.totalSteps += 1;
      return { kind: 'fails', error: outcome.error };
    case 'step':
      return finishStep(run, outcome);
  }
}

async function finishStep(
  run: ThreadRun,
  outcome: Extract<ModelStepOutcome, { kind: 'step' }>,
): Promise<StepEnd> {
  run.turnOpen = true;
  if (outcome.model) run.model = outcome.model;
  run.totalSteps += 1;
  if (outcome.answered) run.steps += 1;
  const calls = await runToolCalls(run, outcome);
  if (run.dead) return { kind: 'aborted' };
  // Only now is the step over: until here a reset or a lost run must find it again.
  run.afterStep = outcome.step;
  if (outcome.moreInput) return { kind: 'goes_on' };
  const { rules, text, answered } = outcome;
  const reason = evaluateStop({ rules, text, answered, calls, steps: run.steps });
  return reason ? { kind: 'stops', reason } : { kind: 'goes_on' };
}

/** A call beyond those the outcome names is dispatched like the most careful one. */
const UNNAMED: CallRef = { name: 'a tool', mode: 'once', timeoutMs: 30 * 60_000 };

async function runToolCalls(run: ThreadRun, outcome: Extract<ModelStepOutcome, { kind: 'step' }>) {
  const results: { name: string; succeeded: boolean }[] = [];
  for (let index = 0; index < outcome.callCount; index++) {
    const call = outcome.calls[index] ?? UNNAMED;
    showActivity(run, `running ${call.name} (${index + 1} of ${outcome.callCount})`);
    const input = { ...run.ref, step: outcome.step, index, executionId: run.currentExecution() };
    const result = await runToolCall(run, call, input);
    if (result.kind === 'terminated') {
      run.dead = true;
      return results;
    }
    if (result.kind === 'done') run.queue.addWaiting(result.queued);
    results.push({ name: result.name, succeeded: result.kind === 'done' && result.succeeded });
  }
  return results;
}

function toStoredError(error: unknown): StoredError {
  const cause = (error as { cause?: { type?: string; message?: string } }).cause;
  return { code: cause?.type ?? 'Fault', message: (cause?.message ?? String(error)).slice(0, 1000) };
}
