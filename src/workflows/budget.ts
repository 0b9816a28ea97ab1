/**
 * Waits for budget that other requests of the family have reserved (core/governance/reservation.ts, R2): until a signal
 * reports that one of them is settled, or a timer fires, at growing intervals, since that signal may be lost. The wait
 * is part of the step, so anything that ends the step ends the wait.
 * B1. A settlement reported while the store is being asked is not missed: the wait then ends at once.
 */
import { condition } from '@temporalio/workflow';
import type { Presence } from './presence.ts';

const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 30_000;

/** Counts the signals of relatives that have settled something. Only a hint to ask again: the store has the state. */
export class BudgetWatch {
  #signalCount = 0;

  get signalCount(): number {
    return this.#signalCount;
  }

  receive(): void {
    this.#signalCount += 1;
  }
}

/** B1. `look`: number of earlier attempts; `signalCount`: the count of signals before the store was asked. */
export async function awaitBudget(
  { presence, budget }: { readonly presence: Presence; readonly budget: BudgetWatch },
  { look, signalCount }: { readonly look: number; readonly signalCount: number },
): Promise<void> {
  presence.showActivity('waiting for its budget, which other requests hold');
  const pause = Math.min(FIRST_PAUSE_MS * 2 ** look, MAX_PAUSE_MS);
  await condition(() => budget.signalCount > signalCount, pause, { summary: 'waiting for its budget' });
}
