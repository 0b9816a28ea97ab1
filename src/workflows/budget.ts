/**
 * Waits for what other requests of the family hold of a budget (core/governance/reservation.ts, R2): the store is asked again, at growing
 * intervals. The wait is within the step, so that whatever ends the step ends it.
 */
import { sleep } from '@temporalio/workflow';
import type { ThreadRun } from './thread-run.ts';

const FIRST_LOOK_MS = 1000;
const LONGEST_LOOK_MS = 30_000;

/** `look`: how often it has been asked already. */
export async function awaitBudget({ presence }: ThreadRun, look: number): Promise<void> {
  presence.showActivity('waiting for its budget, which other requests hold');
  await sleep(Math.min(FIRST_LOOK_MS * 2 ** look, LONGEST_LOOK_MS), { summary: 'waiting for its budget' });
}
