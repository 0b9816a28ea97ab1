/**
 * Handles requests to cancel an execution, concurrently with the loop. The store records each and returns whether there
 * is anything to cancel; if so, the running step is aborted as by a stop, and the loop settles what it left open.
 * C1. A verdict that arrives after the loop has settled aborts nothing: it may concern the execution that has just
 *     ended. The request recorded in the store still applies from the next step on.
 */
import { condition } from '@temporalio/workflow';
import type { ThreadRun } from './thread-run.ts';

export async function runCancelLoop(run: ThreadRun): Promise<void> {
  const { requests } = run;
  for (;;) {
    await condition(() => run.ending || (run.phase.kind === 'open' && requests.asked !== undefined));
    const { asked } = requests;
    if (run.ending || !asked) return;
    const { settled } = requests;
    const verdict = await run.activities.cancelExecution(asked.request);
    // C1: true if the loop has not settled since.
    const current = settled === requests.settled;
    const aborts = verdict.kind === 'canceling' && !verdict.ahead && current;
    requests.answerCancel(asked, verdict, aborts);
  }
}
