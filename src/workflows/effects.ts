/**
 * Runs a thread's effects beside its loop, in turn with its steps (definitions §10, floor.ts).
 * E1. One batch at a time; of one effect where a step waits behind it. The loop is told what the batch queued: an idle thread begins
 *     a step, a parked one stays parked.
 * E2. Nothing that an effect does, and no fault of its activity, fails the workflow. After a fault it looks again, with
 *     growing pauses; after a look in vain it rests at least MIN_PAUSE_MS, since clocks differ.
 * E3. `stop` leaves effects alone. `terminate` and Cancel abort those that run (thread-run.ts).
 */
import { CancellationScope, condition, isCancellation, log, workflowInfo } from '@temporalio/workflow';
import type { RunEffectsOutcome } from '../core/thread/effect-batch.ts';
import { workflowTime } from './clock.ts';
import { isFailedActivity } from './fault.ts';
import type { ThreadRun } from './thread-run.ts';

const MIN_PAUSE_MS = 100;
const FAULT_PAUSE_MS = 1000;
const LONGEST_FAULT_PAUSE_MS = 10 * 60_000;
/** Beyond so many times its soft limit, or so many bytes, a run does not wait for effects any more. */
const FAR_BEYOND = 4;
const FAR_BEYOND_BYTES = 20 * 1024 * 1024;

/** Until the thread ends. */
export async function runEffectsBeside(run: ThreadRun): Promise<void> {
  let faults = 0;
  while (await untilDue(run)) {
    // Checked synchronously before the batch begins: since it was due, the loop may have begun to continue as new.
    if (run.effects.held) continue;
    if (run.floor.effectsMustWait) await run.floor.awaitTurn(() => run.ending || run.effects.held);
    else faults = (await runBatch(run, faults)) ? 0 : faults + 1;
  }
}

/** Continue-as-new would abort an effect that runs, and the next run would repeat it: so the run goes on, within bounds. */
export function effectsHoldBack(run: ThreadRun): boolean {
  const { historyLength, historySize } = workflowInfo();
  const limit = run.settings?.historySoftLimit ?? Number.POSITIVE_INFINITY;
  return run.effects.busy && historyLength < limit * FAR_BEYOND && historySize < FAR_BEYOND_BYTES;
}

/** False when the thread ends. */
async function untilDue(run: ThreadRun): Promise<boolean> {
  const { effects } = run;
  for (;;) {
    await condition(() => run.ending || (effects.lookAt !== undefined && !effects.held));
    if (run.ending) return false;
    const { lookAt = 0 } = effects;
    const rest = lookAt - workflowTime();
    if (rest <= 0) return true;
    run.presence.refresh();
    await condition(() => run.ending || effects.lookAt !== lookAt, rest, { summary: 'next effect' });
  }
}

/** False after a fault. */
async function runBatch(run: ThreadRun, faults: number): Promise<boolean> {
  const { effects, floor } = run;
  const scope = new CancellationScope();
  effects.begin(scope);
  floor.beginEffects();
  run.presence.refresh();
  try {
    // E1: one effect, then the step.
    settle(run, await run.activities.runEffects(scope, run.hasWork ? { most: 1 } : {}));
    return true;
  } catch (error) {
    // Aborted: the thread ends, or continues as new.
    if (isCancellation(error)) {
      effects.lookIn(0);
      return true;
    }
    if (!isFailedActivity(error)) throw error;
    const pause = Math.min(FAULT_PAUSE_MS * 2 ** faults, LONGEST_FAULT_PAUSE_MS);
    log.error('effects could not be run', { error: String((error as Error).cause ?? error), pause });
    effects.lookIn(0);
    effects.rest(pause);
    return false;
  } finally {
    effects.end();
    floor.endEffects();
    run.presence.refresh();
  }
}

function settle(run: ThreadRun, outcome: RunEffectsOutcome): void {
  if (outcome.kind === 'terminated') {
    // By one of the effects, or by code elsewhere: what the loop has under way ends too.
    run.requestTerminate({});
    return;
  }
  run.inbox.announce(outcome.waiting);
  run.effects.rest(outcome.ran > 0 ? 0 : MIN_PAUSE_MS);
}
