/**
 * Delivers a child's report to its parent (runtime §8.2). The commit that ended the child's execution stored it. The activity is
 * retried until it succeeds; a report that was delivered before is not delivered twice.
 */
import type { ThreadRun } from './thread-run.ts';

export async function report(run: ThreadRun): Promise<void> {
  const { ends } = await run.activities.reportToParent();
  run.family.reportDelivered();
  // definitions §13.2: a child that can receive no further message ends with its report.
  if (ends) run.requestTerminate({ reason: 'it has reported to its parent' });
}
