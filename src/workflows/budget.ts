/**
 * Waits for what other requests of the family hold of a budget (core/governance/reservation.ts, R2): until one of them is settled, and at
 * growing intervals, since that may be told to nobody. The wait is within the step, so that whatever ends the step ends it.
 * B1. What is settled while the store is asked is heard: the wait then is over before it begins.
 */
import { condition } from '@temporalio/workflow';
import type { ThreadRun } from './thread-run.ts';

const FIRST_LOOK_MS = 1000;
const LONGEST_LOOK_MS = 30_000;

/** How often a relative has told that it has settled something. A hint to look: the store has all that lasts. */
export class BudgetWatch {
  #heard = 0;

  get heard(): number {
    return this.#heard;
  }

  hear(): void {
    this.#heard += 1;
  }
}

/** B1. `look`: how often it has been asked already; `heard`: what had been told before it was asked now. */
export async function awaitBudget(
  { presence, budget }: ThreadRun,
  { look, heard }: { readonly look: number; readonly heard: number },
): Promise<void> {
  presence.showActivity('waiting for its budget, which other requests hold');
  const pause = Math.min(FIRST_LOOK_MS * 2 ** look, LONGEST_LOOK_MS);
  await condition(() => budget.heard > heard, pause, { summary: 'waiting for its budget' });
}
