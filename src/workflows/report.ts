/**
 * Delivers what a child has to tell its parent (runtime §8.2): the store has it since the child's execution ended, with the
 * same commit. Asked again until it is done; a report that was delivered before is not delivered twice.
 */
import type { ThreadRun } from './thread-run.ts';

export async function report(run: ThreadRun): Promise<void> {
  const { ends } = await run.activities.reportToParent();
  run.family.deliverReport();
  // definitions §13.2: a child that nobody can speak to again.
  if (ends) run.requestTerminate({ reason: 'it has reported to its parent' });
}
