/**
 * One step (runtime §3): the model activity, then its tool calls one after another in the returned order, then
 * the stop rules. Decisions are core's; this file is their order.
 */
import { CancellationScope, isCancellation } from '@temporalio/workflow';
import { advanceSession, NEW_SESSION, otherSide } from '../core/session.ts';
import type { ModelStepOutcome, StoredError } from '../core/step.ts';
import { evaluateStop, type StopReason } from '../core/stop.ts';
import type { FlowDirective } from '../core/thread-execution.ts';
import { showActivity, showAgent, showStatus } from './presence.ts';
import { callModelStep } from './proxies.ts';
import { spillBehind, spillOnce } from './spill.ts';
import { callAt, toStoredError } from './step-call.ts';
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
  if (run.queue.mustStash) await spillOnce(run);
  showStatus(run, 'running');
  const scope = new CancellationScope();
  run.scope = scope;
  // A stop that came while arrivals were handed to the store found no scope to cancel.
  if (run.stopRequest || run.ending) scope.cancel();
  try {
    return await spillBehind(
      run,
      scope.run(() => stepCycle(run)),
    );
  } catch (error) {
    if (isCancellation(error)) return { kind: 'aborted' };
    // The loop's next turn continues as new, and the next run takes the step over.
    if ((error as Error).name === 'Suspended') return { kind: 'goes_on' };
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
      agent: run.agent,
      ...(run.session ? { session: run.session } : {}),
    },
    `step ${run.totalSteps + 1} · ${run.model || run.agent}`,
  );
  run.effects.hear(outcome);
  if (outcome.kind === 'terminated') {
    run.dead = true;
    return { kind: 'aborted' };
  }
  run.queue.settle(items, outcome.swept);
  switch (outcome.kind) {
    case 'nothing_to_do':
      run.session = outcome.session ?? run.session;
      run.afterStep = outcome.step;
      return { kind: 'stops' };
    case 'failed':
      run.session = outcome.session ?? run.session;
      run.afterStep = outcome.step;
      run.totalSteps += 1;
      return { kind: 'fails', error: outcome.error };
    case 'step':
      return finishStep(run, outcome);
  }
}

type StoredStep = Extract<ModelStepOutcome, { kind: 'step' }>;

async function finishStep(run: ThreadRun, outcome: StoredStep): Promise<StepEnd> {
  run.turnOpen = true;
  run.stopReason = null;
  if (outcome.agent !== undefined) showAgent(run, outcome.agent);
  if (outcome.model) run.model = outcome.model;
  const { side, turns } = outcome;
  // After a reset, the store has counted turns that this run has not seen.
  if (side)
    run.session = { ...(run.session ?? NEW_SESSION), side, ...(turns === undefined ? {} : { turns }) };
  const before = countStep(run, outcome);
  const calls = await runToolCalls(run, outcome).catch((error) => {
    // A step that the next run takes over is counted there.
    if ((error as Error).name === 'Suspended') Object.assign(run, before);
    throw error;
  });
  if (run.dead) return { kind: 'aborted' };
  // Only now is the step over: until here a reset or a lost run must find it again.
  run.afterStep = outcome.step;
  if (outcome.moreInput) return { kind: 'goes_on' };
  return evaluateEnd(run, outcome, calls);
}

/** Answers how it was before. */
function countStep(run: ThreadRun, { answered, side = 'a' }: StoredStep) {
  const { totalSteps, steps, sideSteps } = run;
  run.totalSteps += 1;
  if (answered) {
    run.steps += 1;
    run.sideSteps = { ...sideSteps, [side]: sideSteps[side] + 1 };
  }
  return { totalSteps, steps, sideSteps };
}

function evaluateEnd(run: ThreadRun, outcome: StoredStep, calls: readonly CallEnd[]): StepEnd {
  const { rules, text, answered, side = 'a' } = outcome;
  const directive = calls.findLast((call) => call.directive)?.directive ?? outcome.directive;
  const { steps, sideSteps, session = NEW_SESSION } = run;
  const verdict = evaluateStop({
    rules,
    side,
    text,
    answered,
    calls,
    steps,
    ownSteps: sideSteps[side],
    otherSteps: sideSteps[otherSide(side)],
    turns: session.turns,
    directive,
  });
  if (run.session) run.session = advanceSession(session, side, verdict);
  // With two AI sides, the end of a turn is the beginning of the other one's.
  if (verdict.ends === 'nothing' || (verdict.ends === 'turn' && rules.other)) return { kind: 'goes_on' };
  return { kind: 'stops', reason: verdict.reason };
}

interface CallEnd {
  readonly name: string;
  readonly succeeded: boolean;
  readonly directive?: FlowDirective;
}

async function runToolCalls(run: ThreadRun, outcome: StoredStep): Promise<readonly CallEnd[]> {
  const results: CallEnd[] = [];
  for (let index = 0; index < outcome.callCount; index++) {
    const call = callAt(outcome, index);
    showActivity(run, `running ${call.name} (${index + 1} of ${outcome.callCount})`);
    const input = { ...run.ref, step: outcome.step, index, executionId: run.currentExecution() };
    const result = await runToolCall(run, call, input);
    run.effects.hear(result);
    if (result.kind === 'terminated') {
      run.dead = true;
      return results;
    }
    if (result.kind === 'done') run.queue.addWaiting(result.queued);
    const done = result.kind === 'done' ? result : undefined;
    results.push({ name: result.name, succeeded: done?.succeeded ?? false, directive: done?.directive });
  }
  return results;
}
