/**
 * The workflow `thread`: one agent thread, for as long as it lives (runtime §2, 3, 9, 10, 11).
 * W1. One loop, one step at a time; handlers never act (house: no two flows).
 * W2. Nothing that a model, a tool or a user does fails the workflow; only a start that cannot be understood does.
 * W3. It ends by `terminate` or the Web UI's Cancel, completed with `{ outcome: 'terminated' }`, and a thread that
 *     ended stays ended: every run asks the store first.
 */
import {
  ApplicationFailure,
  allHandlersFinished,
  CancellationScope,
  condition,
  workflowInfo,
} from '@temporalio/workflow';
import { parseStartInput, type StartInput } from '../core/start-input.ts';
import type { CommitStatusInput, RestStatus } from '../core/step.ts';
import { continueThread, mustContinueAsNew } from './continue.ts';
import { registerHandlers } from './handlers.ts';
import { announceThread, showActivity, showStatus } from './presence.ts';
import { commit } from './proxies.ts';
import { runStep, type StepEnd } from './step.ts';
import { ThreadRun } from './thread-run.ts';

export async function thread(input: unknown): Promise<{ outcome: 'terminated' }> {
  const run = new ThreadRun(readStart(input));
  registerHandlers(run);
  // Cancel in the Web UI means terminate. The loop itself is not cancelled: it has the store to settle.
  CancellationScope.current().cancelRequested.catch(() => run.requestTerminate({ reason: 'cancelled' }));
  await CancellationScope.nonCancellable(async () => {
    await live(run);
    await condition(allHandlersFinished);
  });
  return { outcome: 'terminated' };
}

function readStart(input: unknown): StartInput {
  try {
    return parseStartInput(input, workflowInfo().workflowId);
  } catch (error) {
    // Anything else, such as a carried state that only a newer worker can read, fails the task and waits for one.
    if ((error as Error).name !== 'InvalidStart') throw error;
    throw ApplicationFailure.nonRetryable((error as Error).message, 'InvalidStart');
  }
}

async function live(run: ThreadRun): Promise<void> {
  await open(run);
  while (!run.dead) {
    if (run.terminateRequest) return end(run);
    if (run.stopRequest) await settle(run, { status: 'stopped', reason: run.stopRequest.reason });
    else if (mustContinueAsNew(run)) await continueThread(run);
    else if (run.hasWork) await advance(run, await runStep(run));
    else if (run.wanted) await settle(run, restAsBefore(run));
    else await condition(() => run.wanted);
  }
}

async function open(run: ThreadRun): Promise<void> {
  const { threadId, agent, userId, arguments: threadArguments, parentId, rootId } = run.start;
  const opened = await commit(
    'openThread',
    { threadId, agent, userId, arguments: threadArguments, parentId, rootId, storeId: run.storeId },
    `open · ${agent}`,
  );
  if (opened.kind === 'terminated') {
    run.dead = true;
    return;
  }
  run.storeId = opened.storeId;
  run.settings = opened.settings;
  run.agent = opened.agent;
  run.model = opened.model ?? '';
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
  // A stopped thread stays parked unless a user message has come with the start.
  run.parked = opened.status === 'stopped' && !run.queue.hasArrivals;
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
  const { parked: park } = run;
  const more = !park && run.queue.holdsItems;
  const outcome = await commit(
    'commitStatus',
    { ...run.ref, ...rest, ordinal: run.nextOrdinal(), rejections: run.takeRejections(), more, park },
    rest.reason ? `${rest.status} · ${rest.reason}` : rest.status,
  );
  if (outcome.kind === 'terminated') {
    run.dead = true;
    return;
  }
  if (run.stopRequest === request) run.stopRequest = undefined;
  run.lastError = rest.error ?? null;
  run.afterStep = outcome.step;
  run.queue.recount(outcome.waiting);
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
  await commit(
    'commitStatus',
    {
      ...run.ref,
      status: 'terminated',
      reason,
      ordinal: run.nextOrdinal(),
      rejections: run.takeRejections(),
    },
    reason ? `terminated · ${reason}` : 'terminated',
  );
  run.dead = true;
  showStatus(run, 'terminated');
  showActivity(run, reason ? `terminated: ${reason}` : 'terminated');
}
