/**
 * Waits until a step that is blocked can be asked for again: for an answer, for its model, or for its budget.
 * B1. A wait for a model is a timer, during which effects may run: no activity, so any number of threads can wait. The
 *     store has stopped the thread's clocks.
 */
import type { BlockedStep } from '../core/thread/waiting-call.ts';
import { awaitBudget } from './budget.ts';
import type { ThreadRun } from './thread-run.ts';
import { awaitAnswer, pauseCall } from './wait-call.ts';

/** `look`: number of earlier waits; `signalCount`: the count of signals about the budget before the store was asked. */
export async function awaitBlocked(
  run: ThreadRun,
  { wait, held }: BlockedStep,
  asked: { readonly look: number; readonly signalCount: number },
): Promise<void> {
  if (wait) return awaitAnswer(run, wait);
  if (held) return pauseCall(run, { kind: 'later', name: `the model ${held.model}`, pauseMs: held.pauseMs });
  return awaitBudget(run, asked);
}
