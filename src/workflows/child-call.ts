/**
 * Runs a call of a subagent, or of a task (runtime §7, definitions §13): creates the child's thread or sends it a
 * message, starts its workflow with this one as its parent, and waits for its report if the call blocks.
 * - The call waits for the report in the store, never for the child's workflow: a run that continues as new, is
 *   reset, or is lost in the meantime finds the report again by the call.
 * C2. A signal announces the report. It may be lost with a killed run, so the store is also asked at growing intervals,
 *     and a child whose workflow is gone is started again.
 * - A run whose history has become too long continues as new while it waits: `Suspended` ends the step without a result.
 * - While the call waits, the floor is lent to effects (floor.ts, F2).
 * C5. If a child waits for people, the thread shows that wait as its own. The store returns it each time it is asked.
 */

import { condition, getExternalWorkflowHandle, isCancellation } from '@temporalio/workflow';
import { workflowIdOf } from '../core/thread/start-options.ts';
import type {
  CallRef,
  ChildStart,
  StoredError,
  SubagentAttempt,
  ToolCallOutcome,
  WaitBelow,
  WaitingCall,
} from '../core/thread/step.ts';
import { errorMessage } from '../core/value/thrown.ts';
import { type CallPlace, isFailedActivity, toStoredError, toSummary } from './activities.ts';
import { startThread } from './child-start.ts';
import { mayContinue } from './continue.ts';
import { wakeForMessages } from './messages.ts';
import type { ThreadRun } from './thread-run.ts';
import { awaitAnswer, Suspended, showWaiting } from './wait-call.ts';

const FIRST_PAUSE_MS = 60_000;
const MAX_PAUSE_MS = 60 * 60_000;

export async function runChildCall(
  run: ThreadRun,
  call: CallRef,
  place: CallPlace,
): Promise<ToolCallOutcome> {
  // First: the child's report may arrive before the result of the activity that sent the message.
  const since = run.family.listen();
  const asked = await askChild(run, call, place);
  if (asked.kind === 'terminated') return asked;
  if (asked.kind === 'settled') return asked.outcome;
  const { child, start, wait, waits = [] } = asked;
  run.family.haveChild();
  if (start) {
    try {
      await startThread(run, child);
    } catch (error) {
      if (isCancellation(error)) throw error;
      return finish(run, call, place, notStarted(error));
    }
  }
  if (wait) return awaitReport(run, { call, place, child }, { waits, since });
  return finish(run, call, place);
}

/** The result of a call that does not block, or whose child could not be asked or started. */
async function finish(
  run: ThreadRun,
  { name }: CallRef,
  place: CallPlace,
  error?: StoredError,
): Promise<ToolCallOutcome> {
  const outcome = await run.activities.finishSubagent({ ...place, error }, `result of ${name}`);
  if (outcome.kind === 'waiting') throw new Error(`A call of ${name} waits that does not block.`);
  return outcome;
}

/** Creates the child or sends it the message. The call may have to wait for an approval before that. */
async function askChild(
  run: ThreadRun,
  call: CallRef,
  place: CallPlace,
): Promise<Exclude<SubagentAttempt, WaitingCall>> {
  for (;;) {
    // Only signals from here on concern what this attempt asks.
    const since = run.waits.listen();
    const asked = await callSubagent(run, call, place);
    if (asked.kind !== 'waits') return asked;
    await awaitAnswer(run, asked, since);
  }
}

/** A fault that persists through all retries becomes the call's result. */
async function callSubagent(run: ThreadRun, call: CallRef, place: CallPlace): Promise<SubagentAttempt> {
  try {
    return await run.activities.callSubagent(place, toSummary(call, place));
  } catch (error) {
    if (!isFailedActivity(error)) throw error;
    // If a child was created nevertheless, the result mentions it.
    const outcome = await finish(run, call, place, toStoredError(error));
    return outcome.kind === 'terminated' ? outcome : { kind: 'settled', outcome };
  }
}

interface WaitingChildCall {
  readonly call: CallRef;
  readonly place: CallPlace;
  readonly child: ChildStart;
}

async function awaitReport(
  run: ThreadRun,
  waiting: WaitingChildCall,
  known: { readonly waits: readonly WaitBelow[]; readonly since: number },
): Promise<ToolCallOutcome> {
  const { call, place, child } = waiting;
  let { since } = known;
  try {
    showWaitsBelow(run, waiting, known.waits);
    for (let look = 0; ; look++) {
      const reported = () => run.family.hasReported(child.threadId, since);
      const pause = Math.min(FIRST_PAUSE_MS * 2 ** look, MAX_PAUSE_MS);
      // Effects may run during the wait.
      run.floor.lend();
      await condition(() => reported() || mayContinue(run), pause, { summary: `waiting for ${call.name}` });
      while (!run.floor.takeBack()) await run.floor.awaitEffects();
      if (!reported() && mayContinue(run)) throw new Suspended();
      const silent = !reported();
      since = run.family.listen();
      // Asks the store for the report.
      const outcome = await run.activities.finishSubagent(place, `report of ${call.name}`);
      if (outcome.kind !== 'waiting') {
        hideWaitsBelow(run, waiting);
        return outcome;
      }
      showWaitsBelow(run, waiting, outcome.waits ?? []);
      if (silent) await wakeChild(run, child);
    }
  } finally {
    run.waits.hideBelow(child.threadId);
  }
}

/** C5. Leaves no trace in the workflow history while no descendant is waiting. */
function showWaitsBelow(
  run: ThreadRun,
  { call, child }: WaitingChildCall,
  below: readonly WaitBelow[],
): void {
  const { waits, presence } = run;
  const had = waits.below.length > 0;
  waits.showBelow(child.threadId, below);
  const [first] = below;
  if (first || had) showWaiting(run);
  const why = first ? `, which waits for ${first.name} (${first.kind} ${first.id})` : '';
  presence.showActivity(`waiting for ${call.name} (${child.threadId})${why}`);
}

function hideWaitsBelow(run: ThreadRun, { call, child }: WaitingChildCall): void {
  const { waits, presence } = run;
  const had = waits.below.length > 0;
  waits.hideBelow(child.threadId);
  if (had) showWaiting(run);
  presence.showActivity(`waiting for ${call.name} (${child.threadId})`);
}

/** C2: signals the child, and starts its workflow if that is gone. */
async function wakeChild(run: ThreadRun, child: ChildStart): Promise<void> {
  try {
    await getExternalWorkflowHandle(workflowIdOf(child.threadId)).signal(wakeForMessages, {});
  } catch (error) {
    if (isCancellation(error)) throw error;
    await startThread(run, child);
  }
}

function notStarted(error: unknown): StoredError {
  return { code: 'Fault', message: `its thread could not be started: ${errorMessage(error)}`.slice(0, 1000) };
}
