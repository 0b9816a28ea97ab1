/** How a thread's workflow is started, whether new, as a child, or revived; the same from every caller. */
import { WORKFLOW_ID_PREFIX } from './start-input.ts';
import { isTaskThread, TASK_ID_PREFIX, TASK_WORKFLOW_TYPE, taskStartOptions } from './task-start.ts';

export const WORKFLOW_TYPE = 'thread';

export interface StartedThread {
  readonly threadId: string;
  readonly agent: string;
  readonly parentId?: string | null;
}

export interface RevivedThread {
  readonly id: string;
  readonly agent: string;
  readonly userId: string | null;
  readonly parentId: string | null;
  readonly rootId: string;
}

/** The type of the thread's workflow: tasks have a separate type. */
export function workflowTypeOf(threadId: string): string {
  return isTaskThread(threadId) ? TASK_WORKFLOW_TYPE : WORKFLOW_TYPE;
}

export function workflowIdOf(threadId: string): string {
  return isTaskThread(threadId) ? threadId : WORKFLOW_ID_PREFIX + threadId;
}

/** Start options for a thread in the store whose workflow may be gone. A task's spec is read from the store. */
export function revival({ id: threadId, agent, userId, parentId, rootId }: RevivedThread) {
  if (isTaskThread(threadId))
    return {
      ...taskStartOptions({ id: threadId.slice(TASK_ID_PREFIX.length), task: agent }),
      args: [{ task: agent, userId }] as [unknown],
    };
  return {
    ...startOptions({ threadId, agent, parentId }),
    args: [{ agent, threadId, userId, parentId, rootId }] as [unknown],
  };
}

export function startOptions({ threadId, agent, parentId }: StartedThread) {
  const origin = parentId ? `, a subagent of the thread \`${parentId}\`` : '';
  return {
    workflowId: WORKFLOW_ID_PREFIX + threadId,
    // The store keeps a terminated thread terminated; a thread whose run was killed continues.
    workflowIdReusePolicy: 'ALLOW_DUPLICATE' as const,
    // Half of the default: this is the delay before another worker takes over when one is lost within a workflow task.
    workflowTaskTimeout: '5 s' as const,
    staticSummary: `${agent} · ${threadId}`.slice(0, 200),
    staticDetails:
      `A thread of the agent **${agent}**${origin}. Send it the signal \`queueMessage\` with \`{"content": "…"}\`, or \`stop\`. ` +
      '*Request Cancellation* ends it permanently; *Terminate* kills this run, and the next message revives it.',
  };
}
