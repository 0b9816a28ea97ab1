/**
 * One step (runtime §3): the model activity, then its tool calls one after another in the returned order, then
 * the stop rules. Core decides; this file only sequences. Quick calls have already run within the model activity.
 */
import { CancellationScope, isCancellation } from '@temporalio/workflow';
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
import { toNextInput } from '../core/thread/step-ahead.ts';
import type { CallEnd, StopReason } from '../core/thread/stop.ts';
import { isFailedActivity, toStoredError } from './activities.ts';
import { mayContinue } from './continue.ts';
import { spillBatch, spillDuring } from './spill.ts';
import type { HeldStep } from './step-ahead.ts';
import type { ThreadRun } from './thread-run.ts';
import { callAt, runToolCall } from './tool-call.ts';
import { awaitAnswer, awaitBlocked, Suspended } from './wait-call.ts';

type ModelInput = Omit<ModelStepInput, keyof RunRef>;

export type StepEnd =
  /** The turn goes on with another step. */
  | { readonly kind: 'goes_on' }
  | { readonly kind: 'stops'; readonly reason?: StopReason }
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
  const ahead = run.ahead.take();
  // A stop has arrived in the meantime: the store settles what it has of the step.
  if (ahead && CancellationScope.current().consideredCancelled) return { kind: 'aborted' };
  // A step ahead passes no items, so arrivals go to the store first (step-ahead.ts, A6).
  if (ahead && !ahead.outcome && run.inbox.queue.hasArrivals) await spillBatch(run);
  const { news } = ahead ?? run.inbox;
  const input = ahead ? toAhead(run, ahead) : toInput(run);
  const { items } = input;
  const outcome = await askForStep(run, input, ahead);
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
      await awaitAnswer(run, outcome.wait, () => run.inbox.news > news);
      return { kind: 'goes_on' };
    case 'canceled':
      run.inbox.queue.announce(outcome.waiting);
      turn.completeStep(outcome.step);
      return { kind: 'stops', reason: CANCELED };
    case 'failed':
      turn.failStep(outcome);
      return { kind: 'fails', error: outcome.error };
    case 'step':
      return finishStep(run, outcome);
  }
}

function toInput(run: ThreadRun): ModelInput {
  const { turn, presence } = run;
  const items = run.inbox.queue.take();
  return {
    ordinal: run.nextOrdinal(),
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

/** The same input as that of the activity that went on into this step. */
function toAhead({ turn, presence }: ThreadRun, { ordinal }: HeldStep): ModelInput {
  return toNextInput(turn.executionId(), {
    ordinal,
    afterStep: turn.afterStep,
    agent: presence.agent,
    session: turn.session,
  });
}

/** Asks for the step, and repeats that after it had to wait for its model, its budget, or an approval of what it spends. */
async function askForStep(
  run: ThreadRun,
  input: ModelInput,
  ahead?: HeldStep,
): Promise<Exclude<ModelStepOutcome, { kind: 'blocked' }>> {
  const { presence } = run;
  let number: number | undefined;
  let asked: AskedSoFar | undefined;
  for (let look = 0, received = ahead?.outcome; ; look++, received = undefined) {
    const signalCount = (received && ahead?.budget) ?? run.budget.signalCount;
    let outcome = received;
    if (!outcome) {
      presence.showActivity(`asking ${presence.model || 'the model'}`);
      // Forget earlier signals: only those from here on concern what this attempt asks.
      run.waits.listen();
      // A7 (step-ahead.ts): a new number if the step's ordinal is that of a step ahead.
      number ??= input.ordinal < 0 ? run.nextOrdinal() : input.ordinal;
      const next = isFree(run) ? run.ahead.planForStep(number) : undefined;
      if (next) run.ahead.ask(next);
      const offered = { ...input, next, asked };
      const summary = presence.nameStep(next !== undefined);
      outcome = run.ahead.receive(await run.activities.modelStep(offered, summary));
    }
    if (outcome.kind !== 'blocked') return outcome;
    asked = outcome.held?.asked;
    await awaitBlocked(run, outcome, { look, signalCount });
  }
}

/** Runs the calls of a stored answer, and decides what ends with the step. */
async function finishStep(run: ThreadRun, outcome: StoredStep): Promise<StepEnd> {
  const { turn } = run;
  const before = turn.beginStep(outcome);
  run.ahead.notice(outcome);
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
  return goesOn ? { kind: 'goes_on' } : { kind: 'stops', reason };
}

interface CalledTools {
  readonly ended: readonly CallEnd[];
  /** Set if the execution's budget denies the next call; the store closes those that have not begun. */
  readonly denied?: StoredError;
}

/** Runs the calls in order; stops early if the thread has ended or the budget denies a call. */
async function runToolCalls(run: ThreadRun, outcome: StoredStep): Promise<CalledTools> {
  const ended: CallEnd[] = [];
  for (let index = 0; index < outcome.callCount; index++) {
    const result = outcome.ran?.[index] ?? (await runCallAt(run, outcome, ended));
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

/** Runs the next call, the one after those in `ended`. */
function runCallAt(run: ThreadRun, outcome: StoredStep, ended: readonly CallEnd[]): Promise<ToolCallOutcome> {
  const index = ended.length;
  const call = callAt(outcome, index);
  const place = { step: outcome.step, index, executionId: run.turn.executionId() };
  const mayGoOn = (call.mode === 'once' || call.mode === 'idempotent') && isFree(run);
  const ahead = mayGoOn ? run.ahead.planForCall(outcome, call, ended) : undefined;
  const then = ahead ? `, then asking ${run.presence.model || 'the model'}` : '';
  run.presence.showActivity(`running ${call.name} (${index + 1} of ${outcome.callCount})${then}`);
  return runToolCall(run, call, place, ahead);
}

/** True if the workflow knows of nothing that must happen before the next step. */
function isFree(run: ThreadRun): boolean {
  return run.floor.isFree && !mayContinue(run) && !run.refusals.pending;
}
