/**
 * Starts the workflows of children (runtime §7.1), with this thread as their parent, so that the Web UI shows the relationship.
 * - The parent close policy is ABANDON: any other would also apply when the parent continues as new. Children are
 *   ended by signals.
 * - A child that was already started elsewhere counts as started.
 * - A run must not end between the command and the server's confirmation: the child might never start.
 */

import { CancellationScope, condition, log, sleep, startChild } from '@temporalio/workflow';
import { startOptions, WORKFLOW_TYPE } from '../core/thread/start-options.ts';
import type { ChildStart } from '../core/thread/step.ts';
import {
  isTaskThread,
  TASK_ID_PREFIX,
  TASK_WORKFLOW_TYPE,
  taskStartOptions,
} from '../core/thread/task-start.ts';
import { errorMessage } from '../core/value/thrown.ts';
import type { ThreadWorkflow } from './messages.ts';
import { toAttributes } from './presence.ts';
import type { ThreadRun } from './thread-run.ts';

const PAUSE_MS = 1000;

/** Survives continue-as-new. */
const DETACHED = { parentClosePolicy: 'ABANDON', cancellationType: 'ABANDON' } as const;

export async function startThread(run: ThreadRun, child: ChildStart): Promise<void> {
  try {
    // The run must not end now.
    await CancellationScope.nonCancellable<unknown>(() =>
      isTaskThread(child.threadId) ? startTask(child) : startChildThread(run, child),
    );
  } catch (error) {
    if ((error as Error).name !== 'WorkflowExecutionAlreadyStartedError') throw error;
  }
}

function startChildThread(run: ThreadRun, child: ChildStart) {
  const { threadId, agent, userId, rootId } = child;
  return startChild<ThreadWorkflow>(WORKFLOW_TYPE, {
    ...startOptions({ ...child, parentId: run.threadId }),
    args: [{ agent, threadId, userId, parentId: run.threadId, rootId }],
    // Saves the child an update: it begins with its first message.
    ...(run.settings?.searchAttributes && {
      typedSearchAttributes: toAttributes({ status: 'running', agent, parentId: run.threadId, rootId }),
    }),
    ...DETACHED,
  });
}

/** Starts the workflow of a task; the store has the task's input. */
function startTask({ threadId, agent: task, userId }: ChildStart) {
  return startChild(TASK_WORKFLOW_TYPE, {
    ...taskStartOptions({ id: threadId.slice(TASK_ID_PREFIX.length), task }),
    args: [{ task, userId }],
    ...DETACHED,
  });
}

/**
 * Starts children whose variables were provided later, or whose start was lost. Runs concurrently with the loop, which
 * may be waiting for another child.
 */
export async function runChildStartLoop(run: ThreadRun): Promise<void> {
  const { family } = run;
  for (;;) {
    await condition(() => run.ending || (family.bootDue && run.phase.kind === 'open' && !run.effects.held));
    if (run.ending) return;
    family.beginBoot();
    try {
      await startUnstarted(run);
    } finally {
      family.endBoot();
    }
  }
}

async function startUnstarted(run: ThreadRun): Promise<void> {
  for (;;) {
    const { children, more } = await run.activities.listUnstarted({}, 'children to start');
    for (const child of children) {
      try {
        await startThread(run, child);
      } catch (error) {
        log.error('a child could not be started', { child: child.threadId, error: errorMessage(error) });
        return;
      }
    }
    if (!more || run.ending) return;
    // A child counts as unstarted until it has opened its thread.
    await sleep(PAUSE_MS, { summary: 'before more children' });
  }
}
