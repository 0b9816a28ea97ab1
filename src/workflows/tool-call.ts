/**
 * One tool call, at most once unless the tool says otherwise (runtime §5: its outcome is recorded).
 * After a lost worker the store decides: not begun, dispatch again; begun, outcome unknown; done, as stored.
 * A call that waits for an answer is dispatched again once there is one, and one whose work goes on elsewhere after a pause (wait-call.ts).
 */
import { isCancellation, sleep } from '@temporalio/workflow';
import type { GoneOn } from '../core/thread/next-step.ts';
import type { CallRef, ToolCallOutcome } from '../core/thread/step.ts';
import type { ToolAttempt } from '../core/thread/wait-step.ts';
import type { Ahead, CallPlace } from './bound-activities.ts';
import { runChildCall } from './child-call.ts';
import { withoutLocalActivities } from './proxies.ts';
import { runSubprompt } from './subprompt.ts';
import { Suspended } from './suspended.ts';
import type { ThreadRun } from './thread-run.ts';
import { awaitAnswer, pauseCall } from './wait-call.ts';

/** Whatever came of it is heard once, of all its attempts together (bound-activities.ts, B2). */
export function runToolCall(
  run: ThreadRun,
  call: CallRef,
  place: CallPlace,
  next?: Ahead,
): Promise<ToolCallOutcome> {
  return run.activities.heard(runByMode(run, call, place, next));
}

async function runByMode(
  run: ThreadRun,
  call: CallRef,
  place: CallPlace,
  next?: Ahead,
): Promise<ToolCallOutcome> {
  if (call.mode === 'prompt') return runSubprompt(run, call, place, runToolCall);
  if (call.mode === 'child') return runChildCall(run, call, place);
  // Asked again, it does not go on.
  for (let redispatches = 0, ahead = next; ; redispatches++, ahead = undefined) {
    if (ahead) run.ahead.ask(ahead.step, run);
    try {
      const outcome = run.ahead.hear(await dispatch(run, call, place, ahead));
      if (outcome.kind !== 'waits' && outcome.kind !== 'later') return outcome;
      if (outcome.kind === 'later') await pauseCall(run, outcome);
      else await awaitAnswer(run, outcome);
      redispatches = -1;
      continue;
    } catch (error) {
      if (isCancellation(error) || error instanceof Suspended) throw error;
    }
    const recorded = await run.activities.recordToolOutcome(call, place);
    if (recorded.kind === 'waits') {
      await awaitAnswer(run, recorded);
      redispatches = -1;
      continue;
    }
    if (recorded.kind !== 'redispatch') return ahead ? run.ahead.hearLost(recorded) : recorded;
    // Once is a worker that was lost before the body began. More often is a fault: pause.
    if (redispatches > 0)
      await sleep(Math.min(30_000, 200 * 2 ** redispatches), { summary: `before ${call.name}, again` });
  }
}

async function dispatch(
  run: ThreadRun,
  call: CallRef,
  place: CallPlace,
  next?: Ahead,
): Promise<ToolAttempt | GoneOn> {
  // What is heard from here on is heard of what this attempt asks.
  run.waits.listen();
  if (call.mode === 'quick' && !withoutLocalActivities()) {
    try {
      return await run.activities.runQuickTool(call, place);
    } catch (error) {
      if (isCancellation(error)) throw error;
      // Slower than promised, or its worker was lost: the store says whether it runs again.
    }
  }
  return run.activities.runTool(call, place, next);
}
