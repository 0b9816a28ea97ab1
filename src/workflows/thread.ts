/**
 * The workflow `thread`: one agent thread, for as long as it lives (runtime §2, 3, 9, 10, 11).
 * W1. One loop, one step at a time; handlers never act (no two flows).
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
import { InvalidStart, isTooDeep, parseStartInput, type StartInput } from '../core/start-input.ts';
import type { CommitStatusInput, CommitStatusOutcome, RestStatus } from '../core/step.ts';
import { startChildrenBeside } from './child-start.ts';
import { continueThread, mayContinue } from './continue.ts';
import { runEffectsBeside } from './effects.ts';
import { registerHandlers } from './handlers.ts';
import { type Letter, readLetter } from './letter.ts';
import { announceThread, showActivity, showAgent, showStatus } from './presence.ts';
import { commit } from './proxies.ts';
import { report } from './report.ts';
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
    if (run.start.parentId !== null && !run.family.silent) await report(run);
    showEnd(run);
    await condition(allHandlersFinished);
  });
  return { outcome: 'terminated' };
}

/** Ended by code of the project, or through another run: the loop only heard of it. */
function showEnd(run: ThreadRun): void {
  if (run.status === 'terminated' || !run.settings || !patched('shows-an-end-from-elsewhere')) return;
  showStatus(run, 'terminated');
  showActivity(run, 'terminated');
}

function readStart(letter: Letter): StartInput {
  const { workflowId } = workflowInfo();
  try {
    // The server bounds its size.
    const read = readLetter(letter, Number.POSITIVE_INFINITY);
    if (!read.ok) throw new InvalidStart(read.refusal.reason);
    const unbounded = isTooDeep(read.value) && !patched('bounds-what-it-reads');
    return parseStartInput(read.value, workflowId, unbounded ? Number.POSITIVE_INFINITY : undefined);
  } catch (error) {
    // Anything else, such as a carried state that only a newer worker can read, fails the task and waits for one.
    if ((error as Error).name !== 'InvalidStart') throw error;
    throw ApplicationFailure.nonRetryable((error as Error).message, 'InvalidStart');
  }
}

async function live(run: ThreadRun): Promise<void> {
  await open(run);
  // Nobody waits for it: what fails in it is a fault of this code and fails the workflow task.
  void runEffectsBeside(run);
  void startChildrenBeside(run);
  while (!run.dead) {
    if (run.terminateRequest) return end(run);
    if (run.family.reportDue) await report(run);
    else if (run.stopRequest) await settle(run, { status: 'stopped', reason: run.stopRequest.reason });
    else if (mayContinue(run)) await run.effects.hold(() => continueThread(run));
    else if (run.hasWork) await advance(run, await runStep(run));
    else if (run.wanted) await settle(run, restAsBefore(run));
    else await condition(() => run.wanted || (mayContinue(run) && continuesFromRest(run)));
  }
  // Whoever ended it may have died before it could tell the children: this commit changes nothing but tells them.
  if (run.family.isParent) await commitEnd(run);
}

/** Signals that make no work are history all the same. Early versions slept on, until the server refused every signal. */
function continuesFromRest(run: ThreadRun): boolean {
  return run.effects.looked || patched('continues-from-rest');
}

async function open(run: ThreadRun): Promise<void> {
  const { threadId, agent, userId, arguments: threadArguments, parentId, rootId } = run.start;
  const opened = await commit(
    'openThread',
    run.settings,
    { threadId, agent, userId, arguments: threadArguments, parentId, rootId, storeId: run.storeId },
    `open · ${agent}`,
  );
  if (opened.kind === 'terminated') {
    run.storeId ??= opened.storeId;
    run.dead = true;
    return;
  }
  run.effects.hear(opened);
  run.storeId = opened.storeId;
  run.settings = opened.settings;
  run.agent = opened.agent;
  run.model = opened.model ?? '';
  run.session ??= opened.session;
  run.family.isParent = opened.parent === true;
  run.family.reportDue = opened.reportDue === true;
  run.family.bootDue ||= opened.unstarted === true;
  if (run.start.carried === null) resume(run, opened);
  run.opened = true;
  showActivityAtRest(run);
  announceThread(run);
  if (opened.lastError && !run.hasWork) await settle(run, { status: 'failed', error: opened.lastError });
}

/** A run that carries nothing goes on where the store stands: at the very start, or after a killed run. */
function resume(
  run: ThreadRun,
  opened: { afterStep: number; turnOpen: boolean; waiting: number; status: string },
): void {
  run.afterStep = opened.afterStep;
  run.totalSteps = opened.afterStep;
  run.turnOpen = opened.turnOpen;
  run.queue.addWaiting(opened.waiting);
  // A stop that came with the start, after all that was said with it: so it is when a run that was killed is revived by one.
  const stops = run.parked && run.stopRequest !== undefined && patched('a-stop-before-the-opening-holds');
  // A stopped thread stays parked unless somebody has spoken to it with the start.
  run.parked = stops || (opened.status === 'stopped' && !run.queue.hasArrivals && !run.spokenTo);
  run.status = run.turnOpen
    ? 'running'
    : ((opened.status === 'running' ? 'idle' : opened.status) as ThreadRun['status']);
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
      // The loop's next turn sees who asked for it. Nobody did: the server cancelled, and the step is asked again.
      return;
  }
}

type Rest = Pick<CommitStatusInput, 'reason' | 'error'> & { readonly status: RestStatus };

/** Ends the turn in the store, with all that is left open; then the thread rests, unless more has come. */
async function settle(run: ThreadRun, rest: Rest): Promise<void> {
  const request = run.stopRequest;
  const { parked: park, agent } = run;
  run.beginCount();
  const more = !park && run.queue.holdsItems;
  const outcome = await commit(
    'commitStatus',
    run.settings,
    {
      ...run.ref,
      ...rest,
      ordinal: run.nextOrdinal(),
      rejections: run.takeRejections(),
      ...(request ? { stops: true } : {}),
      more,
      park,
      agent,
      ...(run.session ? { session: run.session } : {}),
    },
    rest.reason ? `${rest.status} · ${rest.reason}` : rest.status,
  );
  run.effects.hear(outcome);
  if (outcome.kind === 'terminated') {
    run.dead = true;
    return;
  }
  if (run.stopRequest === request) run.stopRequest = undefined;
  run.lastError = rest.error ?? null;
  run.afterStep = outcome.step;
  if (outcome.agent !== undefined) showAgent(run, outcome.agent);
  run.endCount(outcome.waiting);
  run.stopReason =
    rest.reason ?? rest.error?.code ?? (rest.status === 'stopped' ? 'stopped' : run.stopReason);
  if (outcome.reportDue) run.family.reportDue = true;
  run.endTurn();
  if (outcome.kind === 'rest') showStatus(run, rest.status);
  showActivityAtRest(run);
}

function restAsBefore(run: ThreadRun): Rest {
  const status: RestStatus = run.status === 'stopped' || run.status === 'failed' ? run.status : 'idle';
  return { status, ...(run.lastError ? { error: run.lastError } : {}) };
}

function showActivityAtRest(run: ThreadRun): void {
  showActivity(run, run.parked ? 'stopped; waiting for a user message' : 'waiting for a message');
}

async function end(run: ThreadRun): Promise<void> {
  const { reason } = run.terminateRequest ?? {};
  const outcome = await commitEnd(run, reason);
  run.family.silent = outcome.kind === 'rest' && outcome.reportDue !== true;
  run.dead = true;
  showStatus(run, 'terminated');
  showActivity(run, reason ? `terminated: ${reason}` : 'terminated');
}

function commitEnd(run: ThreadRun, reason?: string): Promise<CommitStatusOutcome> {
  return commit(
    'commitStatus',
    run.settings,
    {
      ...run.ref,
      status: 'terminated',
      reason,
      ordinal: run.nextOrdinal(),
      rejections: run.takeRejections(),
    },
    reason ? `terminated · ${reason}` : 'terminated',
  );
}
