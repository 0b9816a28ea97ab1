/**
 * Prevents a query from advancing a thread. A query that the server dispatched while no workflow task was pending may
 * wait in the queue of a busy worker while further events are added; the server then delivers those with the query,
 * without a workflow task. The SDK's core applies them, so the thread acts on them before their task. History records
 * only tasks, so a replay sees another order: signals that came between the query and the task are applied first
 * (docs/sdk-queries.md).
 * - An activation with new events but without a new workflow task is refused. The query fails and can be repeated;
 *   the thread is replayed with its next task.
 * - An activation with nothing but queries is allowed: the last events of an ended thread belong to no task either.
 */
import type { Workflow } from '@temporalio/worker/lib/workflow/interface.js';

type Activation = Parameters<Workflow['activate']>[0];

/** Identifies the workflow task that an activation belongs to. */
interface Moment {
  readonly events: number;
  /** Start time of the task; unique among the tasks of a run. */
  readonly taskStarted: string;
}

export class AheadOfTaskError extends Error {
  constructor() {
    super(
      'The thread has new events that its workflow task has not delivered yet: repeat the query in a moment',
    );
    this.name = 'AheadOfTaskError';
  }
}

/** Changes the workflow so that it refuses events delivered by a query alone; returns the same object. */
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

/** More events with the same task. Activations that belong to one task have the same number of events. */
function isAhead(last: Moment, { events, taskStarted }: Moment): boolean {
  return events > last.events && taskStarted === last.taskStarted;
}

/** True if the activation has any job other than a query. */
function hasNews({ jobs }: Activation): boolean {
  return jobs?.some(({ queryWorkflow }) => !queryWorkflow) ?? false;
}

function momentOf({ historyLength, timestamp }: Activation): Moment {
  return { events: historyLength ?? 0, taskStarted: `${timestamp?.seconds}.${timestamp?.nanos}` };
}
