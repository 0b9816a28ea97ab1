/**
 * Runs a thread's effects concurrently with its loop, alternating with its steps (definitions §10, floor.ts).
 * - One batch at a time, limited to one effect if a step is waiting. Afterwards the loop receives what the batch
 *   queued: an idle thread begins a step, a parked one stays parked.
 * - Nothing that an effect does, and no fault of its activity, fails the workflow. After a fault it tries again, with
 *   growing pauses; after a batch that ran nothing it pauses at least MIN_PAUSE_MS, since clocks differ.
 * - `stop` does not affect effects. `terminate` and Cancel abort running ones (thread-run.ts).
 */

import { CancellationScope, condition, isCancellation, log, workflowInfo } from '@temporalio/workflow';
import type { RunEffectsOutcome } from '../core/thread/step.ts';
import { errorMessage } from '../core/value/thrown.ts';
import { isFailedActivity } from './activities.ts';
import { workflowTime } from './clock.ts';
import type { ThreadRun } from './thread-run.ts';

const MIN_PAUSE_MS = 100;
const FAULT_PAUSE_MS = 1000;
const MAX_FAULT_PAUSE_MS = 10 * 60_000;
/** If its history exceeds the soft limit by this factor, or this many bytes, a run no longer waits for effects. */
const MAX_HISTORY_FACTOR = 4;
const MAX_HISTORY_BYTES = 20 * 1024 * 1024;

/** Runs due effects until the thread ends. */
export async function runEffectLoop(run: ThreadRun): Promise<void> {
  let faults = 0;
  while (await awaitDueEffect(run)) {
    // Checked synchronously before the batch begins: the loop may have begun to continue as new in the meantime.
    if (run.effects.held) continue;
    if (run.floor.effectsMustWait) await run.floor.awaitTurn(() => run.ending || run.effects.held);
    else faults = (await runBatch(run, faults)) ? 0 : faults + 1;
  }
}

/**
 * True if continue-as-new must wait for a running effect: it would abort the effect, and the next run would repeat it.
 * False once the history has become far too long.
 */
export function effectsBlockContinue(run: ThreadRun): boolean {
  const { historyLength, historySize } = workflowInfo();
  const limit = run.settings?.historySoftLimit ?? Number.POSITIVE_INFINITY;
  return run.effects.busy && historyLength < limit * MAX_HISTORY_FACTOR && historySize < MAX_HISTORY_BYTES;
}

/** Resolves to true when an effect is due, and to false when the thread ends. */
async function awaitDueEffect(run: ThreadRun): Promise<boolean> {
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

/** Runs a batch; false after a fault. */
async function runBatch(run: ThreadRun, faults: number): Promise<boolean> {
  const { effects, floor } = run;
  const scope = new CancellationScope();
  effects.begin(scope);
  floor.beginEffects();
  run.presence.refresh();
  try {
    // If a step is waiting, only one effect.
    const batch = run.hasWork ? { most: 1 } : {};
    settle(run, await scope.run(() => run.activities.runEffects(batch, 'effects')));
    return true;
  } catch (error) {
    // Aborted: the thread ends, or continues as new.
    if (isCancellation(error)) {
      effects.lookIn(0);
      return true;
    }
    if (!isFailedActivity(error)) throw error;
    const pause = Math.min(FAULT_PAUSE_MS * 2 ** faults, MAX_FAULT_PAUSE_MS);
    log.error('effects could not be run', { error: errorMessage((error as Error).cause ?? error), pause });
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
    // The thread was ended by one of the effects, or elsewhere: the loop's running step ends too.
    run.requestTerminate({});
    return;
  }
  run.inbox.announce(outcome.waiting);
  run.effects.rest(outcome.ran > 0 ? 0 : MIN_PAUSE_MS);
}
