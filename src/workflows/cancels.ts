/**
 * Requests to cancel an execution, beside the loop: each is kept in the store, which says whether there is anything to cancel; then the step
 * that runs is aborted as by a stop, and the loop settles what it left.
 * C1. A verdict that comes after the loop has settled aborts nothing: it may speak of the execution that has just ended. What the
 *     store keeps holds all the same, from the next step on.
 */
import { condition } from '@temporalio/workflow';
import type { ThreadRun } from './thread-run.ts';

export async function cancelBeside(run: ThreadRun): Promise<void> {
  const { requests } = run;
  for (;;) {
    await condition(() => run.ending || (run.phase.kind === 'open' && requests.asked !== undefined));
    const { asked } = requests;
    if (run.ending || !asked) return;
    const { settled } = requests;
    const verdict = await run.activities.cancelExecution(asked.request);
    // C1: nothing was settled meanwhile.
    const current = settled === requests.settled;
    const aborts = verdict.kind === 'canceling' && !verdict.ahead && current;
    requests.answerCancel(asked, verdict, aborts);
  }
}
