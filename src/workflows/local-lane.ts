/**
 * Local activities, so that a replay gives their results to the code in the order in which it had them. The SDK's core finds a result
 * in the markers of a workflow task, and hands it over with whatever else that task brings; when the code lived, it may have had it
 * before or after the rest. A thread whose replay decides otherwise is lost, so:
 * L1. One at a time: of two that run, the first to end live need not be the first in a replay.
 * L2. Where a result comes together with other news, what those news set off goes first. Live they came first: a result that was
 *     there before them has a task of its own.
 * L3. Queries wait. An answer ends the workflow task, and a result that came while it was given is in that task's markers, though
 *     the code has it only in the next task, behind the signals that have come by then; a replay has it before them. So a query is
 *     left unanswered while one runs: the server asks again as soon as the task is over (docs/sdk-query-replay.md).
 */
import type { ActivateInput, ConcludeActivationInput } from '@temporalio/workflow';

type Job = NonNullable<ActivateInput['activation']['jobs']>[number];
type Command = ConcludeActivationInput['commands'][number];

/** What the SDK's core calls a query that did not come with a workflow task: nobody would ask it again, and nothing runs. */
const SINGLE_QUERY = 'legacy_query';
/** More than any chain of our code has awaits between its waking and its next command. */
const LONGEST_CHAIN = 60;

export class LocalLane {
  readonly #waiting: (() => void)[] = [];
  /** Sequence numbers of those scheduled whose results the code has not had. */
  readonly #running = new Set<number>();
  #taken = false;
  #crowded = false;

  /** L1. In the order of the calls. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#taken) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#taken = true;
    try {
      return await work();
    } finally {
      if (this.#crowded) await othersFirst();
      const next = this.#waiting.shift();
      if (next) next();
      else this.#taken = false;
    }
  }

  /** Before the jobs of an activation are done: those that it is to have. */
  admit(jobs: readonly Job[]): readonly Job[] {
    this.#crowded = jobs.length > 1;
    for (const { resolveActivity } of jobs)
      if (resolveActivity) this.#running.delete(resolveActivity.seq ?? 0);
    // L3.
    if (this.#running.size === 0) return jobs;
    return jobs.filter(({ queryWorkflow }) => !queryWorkflow || queryWorkflow.queryId === SINGLE_QUERY);
  }

  /** At the end of an activation. */
  hear(commands: readonly Command[]): void {
    for (const { scheduleLocalActivity } of commands)
      if (scheduleLocalActivity) this.#running.add(scheduleLocalActivity.seq ?? 0);
  }
}

/** L2. */
async function othersFirst(): Promise<void> {
  for (let turn = 0; turn < LONGEST_CHAIN; turn++) await undefined;
}
