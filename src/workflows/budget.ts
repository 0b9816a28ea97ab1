/**
 * Waits for what other requests of the family hold of a budget (core/governance/reservation.ts, R2).
 * B1. Whoever settles a request wakes those that wait, and a signal may be lost with a run that was killed: so the store is asked again
 *     after half a minute in any case.
 */
import { condition } from '@temporalio/workflow';
import type { ThreadRun } from './thread-run.ts';

const LOOK_AGAIN_MS = 30_000;

export async function awaitBudget(run: ThreadRun): Promise<void> {
  const { family, presence } = run;
  presence.showActivity('waiting for its budget, which other requests hold');
  // B1: or a wake that came meanwhile.
  await condition(() => family.heardOfBudget, LOOK_AGAIN_MS, { summary: 'waiting for its budget' });
  family.listenForBudget();
}
