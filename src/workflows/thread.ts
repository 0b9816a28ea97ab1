/**
 * The workflow `thread`: one agent thread during its whole life (runtime §2, 3, 9, 10, 11).
 * Its work comes from messages and tool calls in signals (handlers.ts), rows that others have written to the store and
 * announced (inbox.ts, family-watch.ts), due effects (effects.ts), and a turn that an earlier run left open.
 * - One loop, one step at a time; handlers never act (no two flows). Effects and steps have the floor in turn
 *   (floor.ts).
 * - Nothing that a model, a tool or a user does fails the workflow; only an invalid start input does.
 * - It ends by `terminate` or the Web UI's Cancel, and completes with `{ outcome: 'terminated' }`. An ended thread
 *   stays ended: every run asks the store first.
 *
 * A second loop handles requests to cancel an execution. The store records each and returns whether there
 * is anything to cancel; if so, the running step is aborted as by a stop, and the loop settles what it left open.
 * - A verdict that arrives after the loop has settled aborts nothing: it may concern the execution that has just
 *   ended. The request recorded in the store still applies from the next step on.
 */

import { allHandlersFinished, CancellationScope, condition } from '@temporalio/workflow';
import { CANCELED } from '../core/governance/cancellation.ts';
import type { OpenThreadOutcome } from '../core/thread/open-thread.ts';
import { parseStartInput } from '../core/thread/start-input.ts';
import { runAnswerLoop } from './answers.ts';
import { runChildStartLoop } from './child-start.ts';
import { continueThread, mayContinue } from './continue.ts';
import { runEffectLoop } from './effects.ts';
import { registerHandlers } from './handlers.ts';
import type { ThreadWorkflow } from './messages.ts';
import { commitEnd, end, settle, showActivityAtRest, toUnchangedRest } from './rest.ts';
import { readStart } from './run.ts';
import { spillDuring } from './spill.ts';
import { runStep, type StepEnd } from './step-cycle.ts';
import { ThreadRun } from './thread-run.ts';

/** The input arrives as an undecoded letter (interceptors.ts); clients send `{ agent, … }`. */
export async function thread(input: unknown): ReturnType<ThreadWorkflow> {
  const run = new ThreadRun(readStart(input, parseStartInput));
  registerHandlers(run);
  // Cancel in the Web UI means terminate. The loop itself is not cancelled: it still has to settle the store.
  CancellationScope.current().cancelRequested.catch(() => run.requestTerminate({ reason: 'cancelled' }));
  await CancellationScope.nonCancellable(async () => {
    await runLoop(run);
    // The parent of a child is notified, whoever ended the child.
    if (run.start.parentId !== null && !run.family.toldOfEnd) await report(run);
    showEnd(run);
    await condition(allHandlersFinished);
  });
  return { outcome: 'terminated' };
}

/** Shows the end of a thread that was ended by code of the project, or through another run. */
function showEnd({ presence, settings }: ThreadRun): void {
  if (presence.status === 'terminated' || !settings) return;
  presence.showStatus('terminated');
  presence.showActivity('terminated');
}

/** The main loop: runs until the thread ends, or continues as new. */
async function runLoop(run: ThreadRun): Promise<void> {
  await open(run);
  // Not awaited: an error in them is a fault of this code and fails the workflow task.
  void runEffectLoop(run);
  void runChildStartLoop(run);
  void runAnswerLoop(run);
  void runCancelLoop(run);
  while (!run.ended) {
    if (run.requests.terminate) return end(run);
    if (run.family.reportDue) await report(run);
    else if (run.requests.stop) await settle(run, { status: 'stopped', ...run.requests.stop });
    else if (run.requests.canceled) await settle(run, { status: 'idle', reason: CANCELED });
    else if (mayContinue(run)) await run.effects.hold(() => continueThread(run));
    else if (run.hasWork && run.floor.stepMustWait) await awaitFloor(run);
    else if (run.hasWork) await advance(run, await runStep(run));
    else if (run.wanted) await settle(run, toUnchangedRest(run));
    // Signals that cause no work still grow the history of a thread at rest.
    else await condition(() => run.wanted || mayContinue(run));
  }
  // The process that ended the thread may have died before it notified the children, and it runs no end hooks.
  if (run.family.isParent || run.tellsEnd) await commitEnd(run);
}

/**
 * Waits while an effect has the floor. Arrivals are spilled to the store: readers see them as pending, and the batch of
 * effects notices them (activities/effect/run-effects.ts).
 */
function awaitFloor(run: ThreadRun): Promise<void> {
  const { floor, requests, presence } = run;
  presence.showActivity('waiting for an effect to end');
  return spillDuring(
    run,
    condition(() => floor.isFree || run.ending || requests.stop !== undefined || mayContinue(run)),
  );
}

async function advance(run: ThreadRun, step: StepEnd): Promise<void> {
  switch (step.kind) {
    case 'goes_on':
      return;
    case 'stops':
      return settle(run, { status: 'idle', reason: step.reason }, step.end);
    case 'fails':
      return settle(run, { status: 'failed', error: step.error });
    case 'aborted':
      // The loop handles the request next. Without a request the server cancelled the step, and it is tried again.
      return;
  }
}

async function runCancelLoop(run: ThreadRun): Promise<void> {
  const { requests } = run;
  for (;;) {
    await condition(() => run.ending || (run.phase.kind === 'open' && requests.asked !== undefined));
    const { asked } = requests;
    if (run.ending || !asked) return;
    const { settled } = requests;
    const { request } = asked;
    const summary = request.reason ? `cancel · ${request.reason}` : 'cancel';
    const verdict = await run.activities.cancelExecution({ request }, summary);
    // True if the loop has not settled since.
    const current = settled === requests.settled;
    const aborts = verdict.kind === 'canceling' && !verdict.ahead && current;
    requests.answerCancel(asked, verdict, aborts);
  }
}

type Opened = Extract<OpenThreadOutcome, { kind: 'open' }>;

/**
 * Opens a run: loads from the store the state of the thread, the worker settings that apply, and whether the thread has
 * ended.
 */
async function open(run: ThreadRun): Promise<void> {
  const { agent, userId, arguments: threadArguments, parentId, rootId, context, tags, stored } = run.start;
  const { store } = run;
  const input = { agent, userId, arguments: threadArguments, parentId, rootId, context, tags, stored };
  const opened = await run.activities.openThread(input, `open · ${agent}`);
  if (opened.kind === 'terminated') {
    store.bind(store.id ?? opened.storeId);
    run.end();
    return;
  }
  store.bind(opened.storeId, opened.settings);
  run.presence.adopt({ agent: opened.agent, model: opened.model ?? '' });
  run.turn.adoptSession(opened.session);
  run.family.open(opened);
  run.tellsEnd = opened.tellsEnd === true;
  if (run.start.carried === null) resume(run, opened);
  run.open(opened.settings);
  showActivityAtRest(run);
  run.presence.announce();
  if (opened.lastError && !run.hasWork) await settle(run, { status: 'failed', error: opened.lastError });
}

/** Continues from the state in the store if nothing was carried over: at the first start, or after a killed run. */
function resume(run: ThreadRun, { status, afterStep, turnOpen, waiting }: Opened): void {
  run.turn.resume({ afterStep, turnOpen });
  // A stop that arrived with the start, after all its messages, holds: this is the case if a stop revives a killed run.
  const stopHolds = run.requests.stop !== undefined;
  run.inbox.resume({ waiting, stopped: status === 'stopped', stopHolds });
  if (turnOpen) run.presence.resume('running');
  else run.presence.resume(status === 'running' ? 'idle' : status);
}

/**
 * Delivers a child's report to its parent (runtime §8.2). The commit that ended the child's execution stored it. The activity is
 * retried until it succeeds; a report that was delivered before is not delivered twice.
 */
async function report(run: ThreadRun): Promise<void> {
  const { ends } = await run.activities.reportToParent({}, 'report to the parent');
  run.family.reportDelivered();
  // definitions §13.2: a child that can receive no further message ends with its report.
  if (ends) run.endByReport();
}
