/**
 * The workflow `thread`: one agent thread, for as long as it lives (runtime §2, 3, 9, 10, 11).
 * What makes it work: messages and tools that signals bring (handlers.ts), rows that others have left in the store and announced
 * (inbox.ts, family-watch.ts), effects that are due (effects.ts), a turn that a run before left open (opening.ts).
 * W1. One loop, one step at a time; handlers never act (no two flows). Effects have the floor in turn with it (floor.ts).
 * W2. Nothing that a model, a tool or a user does fails the workflow; only a start that cannot be understood does.
 * W3. It ends by `terminate` or the Web UI's Cancel, completed with `{ outcome: 'terminated' }`, and a thread that
 *     ended stays ended: every run asks the store first.
 */
import {
  ApplicationFailure,
  allHandlersFinished,
  CancellationScope,
  condition,
  patched,
  workflowInfo,
} from '@temporalio/workflow';
import { CANCELED } from '../core/governance/cancellation.ts';
import { InvalidStart, isTooDeep, parseStartInput, type StartInput } from '../core/thread/start-input.ts';
import { storeAnswersBeside } from './answers.ts';
import { cancelBeside } from './cancels.ts';
import { startChildrenBeside } from './child-start.ts';
import { continueThread, mayContinue } from './continue.ts';
import { runEffectsBeside } from './effects.ts';
import { registerHandlers } from './handlers.ts';
import { hasContext, TAKES_CONTEXTS } from './known-context.ts';
import { type Letter, readLetter } from './letter.ts';
import { open } from './opening.ts';
import { report } from './report.ts';
import { commitEnd, end, restAsBefore, settle } from './rest.ts';
import { spillBehind } from './spill.ts';
import { runStep, type StepEnd } from './step.ts';
import { ThreadRun } from './thread-run.ts';

/** Its input arrives unread (interceptors.ts); what clients send is `{ agent, … }`. */
export async function thread(input: unknown): Promise<{ outcome: 'terminated' }> {
  const run = new ThreadRun(readStart(input as Letter));
  registerHandlers(run);
  // Cancel in the Web UI means terminate. The loop itself is not cancelled: it has the store to settle.
  CancellationScope.current().cancelRequested.catch(() => run.requestTerminate({ reason: 'cancelled' }));
  await CancellationScope.nonCancellable(async () => {
    await live(run);
    // Whoever ended a child, its parent hears of it.
    if (run.start.parentId !== null && !run.family.toldOfEnd) await report(run);
    showEnd(run);
    await condition(allHandlersFinished);
  });
  return { outcome: 'terminated' };
}

/** The thread was ended by code of the project, or through another run. */
function showEnd({ presence, settings }: ThreadRun): void {
  if (presence.status === 'terminated' || !settings || !patched('shows-an-end-from-elsewhere')) return;
  presence.showStatus('terminated');
  presence.showActivity('terminated');
}

function readStart(letter: Letter): StartInput {
  const { workflowId } = workflowInfo();
  try {
    // The server bounds its size.
    const read = readLetter(letter, Number.POSITIVE_INFINITY);
    if (!read.ok) throw new InvalidStart(read.refusal.reason);
    const unbounded = isTooDeep(read.value) && !patched('bounds-what-it-reads');
    const maxDepth = unbounded ? Number.POSITIVE_INFINITY : undefined;
    if (!hasContext(read.value) || patched(TAKES_CONTEXTS))
      return parseStartInput(read.value, workflowId, maxDepth);
    return parseStartInput({ ...read.value, context: undefined }, workflowId, maxDepth);
  } catch (error) {
    // Anything else, such as a carried state that only a newer worker can read, fails the task and waits for one.
    if ((error as Error).name !== 'InvalidStart') throw error;
    throw ApplicationFailure.nonRetryable((error as Error).message, 'InvalidStart');
  }
}

/** Until the thread ends, or continues as new. */
async function live(run: ThreadRun): Promise<void> {
  await open(run);
  // Not awaited: what fails in them is a fault of this code and fails the workflow task.
  void runEffectsBeside(run);
  void startChildrenBeside(run);
  void storeAnswersBeside(run);
  void cancelBeside(run);
  while (!run.ended) {
    if (run.requests.terminate) return end(run);
    if (run.family.reportDue) await report(run);
    else if (run.requests.stop) await settle(run, { status: 'stopped', reason: run.requests.stop.reason });
    else if (run.requests.canceled) await settle(run, { status: 'idle', reason: CANCELED });
    else if (mayContinue(run)) await run.effects.hold(() => continueThread(run));
    else if (run.hasWork && run.floor.stepMustWait) await awaitFloor(run);
    else if (run.hasWork) await advance(run, await runStep(run));
    else if (run.wanted) await settle(run, restAsBefore(run));
    else await condition(() => run.wanted || (mayContinue(run) && continuesFromRest(run)));
  }
  // The process that ended the thread may have died before it told the children, and told no hook of the end.
  if (run.family.isParent || run.tellsEnd) await commitEnd(run);
}

/** An effect has its turn. What arrives meanwhile is listed as pending, and the effects hear of it (activities/effect/run-effects.ts). */
function awaitFloor(run: ThreadRun): Promise<void> {
  const { floor, requests, presence } = run;
  presence.showActivity('waiting for an effect to end');
  return spillBehind(
    run,
    condition(() => floor.isFree || run.ending || requests.stop !== undefined || mayContinue(run)),
  );
}

/** Signals that make no work are history all the same. Early versions did not wake, until the server refused every signal. */
function continuesFromRest(run: ThreadRun): boolean {
  return run.effects.looked || patched('continues-from-rest');
}

async function advance(run: ThreadRun, step: StepEnd): Promise<void> {
  switch (step.kind) {
    case 'goes_on':
      return;
    case 'stops':
      return settle(run, { status: 'idle', reason: step.reason });
    case 'fails':
      return settle(run, { status: 'failed', error: step.error });
    case 'aborted':
      // The loop sees next who asked for it. Where nobody did, the server cancelled, and the step is tried again.
      return;
  }
}
