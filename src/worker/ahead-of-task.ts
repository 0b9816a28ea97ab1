/**
 * Keeps a query from moving a thread on. A query that the server dispatched alone, while no task was pending, may lie in the queue
 * of a busy worker until more events have come; the server then hands those over with it, without a task. The SDK's core applies
 * them, so the thread decides on them before its task, and its history, which knows tasks alone, is decided otherwise
 * by a replay: what came between the query and the task is put before it (docs/sdk-queries.md).
 * A1. An activation that brings new events without a task of its own is refused. The query fails and can be asked again; the thread
 *     is replayed with its next task.
 * A2. What brings nothing but queries moves nothing on: the last events of a thread that has ended belong to no task either.
 */
import type { Workflow } from '@temporalio/worker/lib/workflow/interface.js';

type Activation = Parameters<Workflow['activate']>[0];

/** What an activation tells of the task that it belongs to. */
interface Moment {
  readonly events: number;
  /** When its task was started: no two tasks of a run share it. */
  readonly taskStarted: string;
}

export class AheadOfTaskError extends Error {
  constructor() {
    super(
      'The thread had news that this query came with and that its task has not brought yet: ask again in a moment',
    );
    this.name = 'AheadOfTaskError';
  }
}

/** The same workflow, which refuses what a query alone has brought. */
export function refuseAheadOfTask(workflow: Workflow): Workflow {
  const activate = workflow.activate.bind(workflow);
  let last: Moment | undefined;
  workflow.activate = async (activation) => {
    const moment = momentOf(activation);
    if (last && isAhead(last, moment) && hasNews(activation)) throw new AheadOfTaskError();
    last = moment;
    return activate(activation);
  };
  return workflow;
}

/** A1. Activations of one task, such as that of its query, share its number of events too. */
function isAhead(last: Moment, { events, taskStarted }: Moment): boolean {
  return events > last.events && taskStarted === last.taskStarted;
}

/** A2: something for the thread to act on. */
function hasNews({ jobs }: Activation): boolean {
  return jobs?.some(({ queryWorkflow }) => !queryWorkflow) ?? false;
}

function momentOf({ historyLength, timestamp }: Activation): Moment {
  return { events: historyLength ?? 0, taskStarted: `${timestamp?.seconds}.${timestamp?.nanos}` };
}
