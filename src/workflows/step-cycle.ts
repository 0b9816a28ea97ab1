/**
 * One step (runtime §3): the model activity, then its tool calls one after another in the returned order, then
 * the stop rules. Core decides; this file only sequences. Quick calls have already run within the model activity.
 */
import { isCancellation, workflowInfo } from '@temporalio/workflow';
import { CANCELED } from '../core/governance/cancellation.ts';
import type {
  AskedSoFar,
  ModelStepInput,
  ModelStepOutcome,
  RunRef,
  StoredError,
  StoredStep,
  ToolCallOutcome,
} from '../core/thread/step.ts';
import { type EarlierSteps, type LoopOffer, type StoredRest, toNextInput } from '../core/thread/step-loop.ts';
import type { CallEnd, StopReason } from '../core/thread/stop.ts';
import { isFailedActivity, toStoredError } from './activities.ts';
import { mayContinue } from './continue.ts';
import { spillBatch, spillDuring } from './spill.ts';
import type { ThreadRun } from './thread-run.ts';
import { callAt, outcomeAt, runToolCall } from './tool-call.ts';
import { awaitAnswer, awaitBlocked, Suspended } from './wait-call.ts';

type ModelInput = Omit<ModelStepInput, keyof RunRef>;

/** What the activity of a step may have stored behind it; nothing if it has not, or a fault hides whether it has. */
export interface StepRest extends Partial<StoredRest> {
  /** The ordinal for the end of the turn. */
  readonly ordinal: number;
}

export type StepEnd =
  /** The turn goes on with another step. */
  | { readonly kind: 'goes_on' }
  | { readonly kind: 'stops'; readonly reason?: StopReason; readonly end?: StepRest }
  | { readonly kind: 'fails'; readonly error: StoredError }
  /** `stop`, `terminate` or Cancel ended the step early; the store settles what it left open. */
  | { readonly kind: 'aborted' };

export async function runStep(run: ThreadRun): Promise<StepEnd> {
  run.floor.beginStep();
  if (run.inbox.queue.mustStash) await spillBatch(run);
  run.presence.showStatus('running');
  const scope = run.requests.enterStep();
  // A stop that arrived during the spill above found no scope to cancel.
  if (run.requests.stop || run.requests.canceled || run.ending) scope.cancel();
  try {
    return await spillDuring(
      run,
      scope.run(() => stepCycle(run)),
    );
  } catch (error) {
    if (isCancellation(error)) return { kind: 'aborted' };
    // The loop continues as new, and the next run takes the step over.
    if (error instanceof Suspended) return { kind: 'goes_on' };
    if (!isFailedActivity(error)) throw error;
    // The activity failed permanently, and the items that it took may not be stored. Parked, so that the loop does not
    // retry endlessly.
    run.inbox.park();
    return { kind: 'fails', error: toStoredError(error) };
  } finally {
    run.requests.leaveStep();
    run.floor.endStep();
  }
}

async function stepCycle(run: ThreadRun): Promise<StepEnd> {
  const { turn } = run;
  const { news } = run.inbox;
  const input = toInput(run);
  const { items, outcome, since } = await askForStep(run, input);
  if (outcome.kind === 'terminated') {
    run.end();
    return { kind: 'aborted' };
  }
  run.inbox.queue.settle(items, outcome.swept);
  if (outcome.kind === 'step' && outcome.waiting !== undefined) run.inbox.queue.announce(outcome.waiting);
  switch (outcome.kind) {
    case 'nothing_to_do':
      turn.skipStep(outcome);
      return { kind: 'stops' };
    case 'limited':
      run.inbox.queue.announce(outcome.waiting);
      turn.limitStep(outcome);
      return { kind: 'stops', reason: outcome.reason };
    case 'paused':
      run.inbox.queue.announce(outcome.waiting);
      run.waits.pause();
      // C4 (wait-call.ts): something may have been put in line since the store was asked.
      await awaitAnswer(run, outcome.wait, since, () => run.inbox.news > news);
      return { kind: 'goes_on' };
    case 'canceled':
      run.inbox.queue.announce(outcome.waiting);
      turn.completeStep(outcome.step);
      return { kind: 'stops', reason: CANCELED };
    case 'failed':
      turn.failStep(outcome);
      return { kind: 'fails', error: outcome.error };
    case 'step':
      return finishStep(run, outcome, restOrdinalOf(run, input));
  }
}

function toInput(run: ThreadRun): ModelInput {
  const { turn, presence } = run;
  const items = run.inbox.queue.take();
  return {
    // The ordinals after it are those of the steps into which its activity may go on, and of the turn's and the thread's
    // end.
    ordinal: run.nextOrdinal(stepsPerActivity(run) + 2),
    executionId: turn.executionId(),
    afterStep: turn.afterStep,
    items,
    rejections: run.refusals.take(),
    agent: presence.agent,
    session: turn.session,
    unprompted: run.inbox.takeUnprompted() || undefined,
    waited: run.waits.takePause() || undefined,
  };
}

function stepsPerActivity({ settings }: ThreadRun): number {
  return settings?.stepsPerActivity ?? 1;
}

/** The ordinal that is kept for the end of the turn. */
function restOrdinalOf(run: ThreadRun, { ordinal }: ModelInput): number {
  return ordinal + stepsPerActivity(run);
}

interface AskedStep {
  /** What the step was asked with and has stored. */
  readonly items: ModelInput['items'];
  readonly outcome: Exclude<ModelStepOutcome, { kind: 'blocked' }>;
  /** The point of `waits.listen` before it was asked. */
  readonly since: number;
}

/**
 * Asks for the step, and for those into which its activity goes on. Repeats that if the outcome of the last one is
 * unknown, or after it had to wait for its model, its budget, or an approval of what it spends.
 */
async function askForStep(run: ThreadRun, first: ModelInput): Promise<AskedStep> {
  const { presence } = run;
  let input = first;
  let asked: AskedSoFar | undefined;
  for (let look = 0; ; look++) {
    const { signalCount } = run.budget;
    // Only signals from here on concern what this attempt asks.
    const since = run.waits.listen();
    const loop = offerLoop(run, input.ordinal, restOrdinalOf(run, first));
    presence.showAsking(loop !== undefined);
    const summary = presence.nameStep(loop !== undefined);
    const own = loop && ({ heartbeat: 'shorter' } as const);
    const { earlier, ...outcome } = await run.activities.modelStep({ ...input, asked, loop }, summary, own);
    if (earlier) {
      passSteps(run, input, earlier);
      input = toNextInput(input, earlier);
      [look, asked] = [0, undefined];
    }
    if (outcome.kind === 'unknown') {
      // The step passes no items: arrivals go to the store first.
      while (run.inbox.queue.hasArrivals) if (!(await spillBatch(run))) break;
      continue;
    }
    if (outcome.kind !== 'blocked') return { items: input.items, outcome, since };
    asked = outcome.held?.asked;
    await awaitBlocked(run, outcome, { look, signalCount, since });
  }
}

/** Events of history that scheduling an activity adds: the completed workflow task, and the scheduled activity. */
const OWN_EVENTS = 2;

/** How far the activity may go on; undefined if something that the workflow knows of comes before another step. */
function offerLoop(run: ThreadRun, ordinal: number, restOrdinal: number): LoopOffer | undefined {
  const { floor, refusals, inbox, presence } = run;
  const steps = restOrdinal - ordinal;
  const isFree =
    floor.isFree && !mayContinue(run) && !refusals.pending && !inbox.queue.hasArrivals && !inbox.parked;
  if (steps < 2 || !isFree) return undefined;
  // It may count what is in line.
  inbox.beginCount();
  const historyLength = workflowInfo().historyLength + OWN_EVENTS + presence.addedEvents;
  return { steps, restOrdinal, historyLength, showsRunning: presence.isAboutToShow || undefined };
}

/** Takes note of the steps that the activity has made before its last one. */
function passSteps({ turn, inbox }: ThreadRun, { items }: ModelInput, earlier: EarlierSteps): void {
  turn.passSteps(earlier);
  inbox.queue.settle(items, earlier.swept);
  inbox.queue.addWaiting(earlier.queued);
}

/** Runs the calls of a stored answer, and decides what ends with the step. */
async function finishStep(
  run: ThreadRun,
  { rest, threadEnd, ...outcome }: StoredStep & Partial<StoredRest>,
  ordinal: number,
): Promise<StepEnd> {
  const { turn } = run;
  const before = turn.beginStep(outcome);
  if (outcome.agent !== undefined) run.presence.showAgent(outcome.agent);
  if (outcome.model) run.presence.showModel(outcome.model);
  run.presence.showCalls(outcome);
  if (outcome.exceeded) {
    turn.completeStep(outcome.step);
    return { kind: 'fails', error: outcome.exceeded };
  }
  const calls = await runToolCalls(run, outcome).catch((error) => {
    if (error instanceof Suspended) turn.uncountStep(before);
    throw error;
  });
  if (run.ended) return { kind: 'aborted' };
  turn.completeStep(outcome.step);
  if (calls.denied) return { kind: 'fails', error: calls.denied };
  const { goesOn, reason } = turn.judge(outcome, calls.ended);
  return goesOn ? { kind: 'goes_on' } : { kind: 'stops', reason, end: { ordinal, rest, threadEnd } };
}

interface CalledTools {
  readonly ended: readonly CallEnd[];
  /** Set if the execution's budget denies the next call; the store closes those that have not begun. */
  readonly denied?: StoredError;
}

/**
 * Runs the calls in order, those of a group beside each other; stops early if the thread has ended or the budget denies a
 * call.
 */
async function runToolCalls(run: ThreadRun, outcome: StoredStep): Promise<CalledTools> {
  const ended: CallEnd[] = [];
  const ran = [...(outcome.ran ?? [])];
  const runAt = (step: StoredStep, index: number) => runCallAt(run, step, index);
  for (let index = 0; index < outcome.callCount; index++) {
    const result = await outcomeAt(run, outcome, { ran, index }, runAt);
    if (result.kind === 'terminated') {
      run.end();
      return { ended };
    }
    if (result.kind === 'exceeded') return { ended, denied: result.error };
    if (result.kind === 'done') run.inbox.queue.addWaiting(result.queued);
    const done = result.kind === 'done' ? result : undefined;
    ended.push({ name: result.name, succeeded: done?.succeeded ?? false, directive: done?.directive });
  }
  return { ended };
}

function runCallAt(run: ThreadRun, outcome: StoredStep, index: number): Promise<ToolCallOutcome> {
  const call = callAt(outcome, index);
  const place = { step: outcome.step, index, executionId: run.turn.executionId() };
  run.presence.showActivity(`running ${call.name} (${index + 1} of ${outcome.callCount})`);
  return runToolCall(run, call, place);
}
