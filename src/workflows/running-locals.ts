/**
 * The local activities of a run whose results its code has not had yet, as the SDK's core counts them.
 *
 * A query that is answered meanwhile would end the workflow task: with the marker of a local activity that is done, and without the
 * script that was to go on with its result. That script runs in the next task, behind the signals which have come by then; a
 * replay finds the marker in the task before, and runs it in front of them. So the two may decide otherwise, and a thread whose
 * replay decides otherwise is lost. Hence queries are left unanswered while anything is counted here: the server asks them again
 * as soon as the task is over.
 */
import type { ActivateInput, ConcludeActivationInput } from '@temporalio/workflow';

type Job = NonNullable<ActivateInput['activation']['jobs']>[number];
type Command = ConcludeActivationInput['commands'][number];

export class RunningLocals {
  readonly #running = new Set<number>();

  hearCommands(commands: readonly Command[]): void {
    for (const { scheduleLocalActivity } of commands)
      if (scheduleLocalActivity) this.#running.add(scheduleLocalActivity.seq ?? 0);
  }

  hearJobs(jobs: readonly Job[]): void {
    for (const { resolveActivity } of jobs) if (resolveActivity) this.#running.delete(resolveActivity.seq ?? 0);
  }

  /** A query that is a task of its own stays: nobody would ask it again, and it comes only when nothing runs. */
  withoutEarlyQueries(jobs: readonly Job[]): readonly Job[] {
    if (this.#running.size === 0) return jobs;
    return jobs.filter(({ queryWorkflow }) => !queryWorkflow || queryWorkflow.queryId === SINGLE_QUERY);
  }
}

/** What the SDK's core calls a query that did not come with a workflow task. */
const SINGLE_QUERY = 'legacy_query';
