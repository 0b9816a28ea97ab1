/** The status of a task: working, waiting for people, or ended; with a message if there is something to report. */
import type { EventData } from '../../core/event/event-data.ts';
import type { ThreadEventOf } from '../../core/event/thread-event.ts';
import type { RestStatus } from '../../core/thread/step.ts';
import { type A2aFrame, type A2aPart, type A2aTask, type TaskState, toTimestamp } from './a2a-shape.ts';
import type { TaskHandlers, TaskTransition } from './task-handler.ts';
import type { OpenTask, OpenWait } from './task-state.ts';

/** Number and time (microseconds since 1970) of the row that changes the status. */
interface RowPosition {
  readonly seq: number;
  readonly at: number;
}

export const STATUS_HANDLERS: TaskHandlers = {
  'wait.opened': (open, { seq, at, data: { waitId, kind, name, summary } }) => {
    // A wait for variables delays the creation of a subagent, not the task.
    if (kind === 'variables') return [open, []];
    const next = { ...open, waits: { ...open.waits, [waitId]: { waitId, kind, name, summary } } };
    return isWorking(open) ? [next, []] : setWaiting(next, { seq, at });
  },
  'wait.answered': closeWait,
  'wait.closed': closeWait,
  'thread.status': (open, { seq, at, data: { status } }) => {
    // The waits may have been answered before this row: then the task does not wait.
    if (status === 'waiting' && Object.keys(open.waits).length > 0) return setWaiting(open, { seq, at });
    if (status !== 'running' || isWorking(open)) return [open, []];
    return setStatus(open, 'TASK_STATE_WORKING', { seq, at });
  },
};

function isWorking({ task }: OpenTask): boolean {
  return task.status.state === 'TASK_STATE_WORKING';
}

/**
 * Closes a wait. With the last one the task works again, whenever the row with the thread's status follows. An answer
 * that was sent as a message is added to the history.
 */
function closeWait(
  open: OpenTask,
  { seq, at, data }: ThreadEventOf<'wait.answered'> | ThreadEventOf<'wait.closed'>,
): TaskTransition {
  const { [data.waitId]: known, ...waits } = open.waits;
  if (!known) return [open, []];
  const next = { ...open, waits, task: withAnswer(open.task, data) };
  if (isWorking(open)) return [next, []];
  if (Object.keys(waits).length > 0) return setWaiting(next, { seq, at });
  return setStatus(next, 'TASK_STATE_WORKING', { seq, at });
}

function withAnswer(
  task: A2aTask,
  { waitId, by, approved }: EventData['wait.answered' | 'wait.closed'],
): A2aTask {
  const messageId = by === undefined ? undefined : messageOf(by);
  if (messageId === undefined) return task;
  const { id: taskId, contextId } = task;
  const data = { waitId, ...(approved === undefined ? {} : { approved }) };
  const message = { messageId, contextId, taskId, role: 'ROLE_USER', parts: [{ data }] } as const;
  return { ...task, history: [...task.history, message] };
}

/** Builds `by` of an answer that was sent as a message: the sender's name and the message's id. */
export function answeredBy(name: string | null, messageId: string): string {
  return `${(name ?? 'a2a').slice(0, 180)}, message ${messageId}`;
}

function messageOf(by: string): string | undefined {
  return /, message ([!-~]{1,64})$/.exec(by)?.[1];
}

function setWaiting(open: OpenTask, at: RowPosition): TaskTransition {
  return setStatus(open, 'TASK_STATE_INPUT_REQUIRED', at, Object.values(open.waits).flatMap(toParts));
}

/** The question as text, and the wait with its id, which an answer can name. */
function toParts({ summary, ...wait }: OpenWait): readonly A2aPart[] {
  return [{ text: summary }, { data: wait, mediaType: 'application/json' }];
}

const STATES: Readonly<Record<RestStatus, TaskState>> = {
  idle: 'TASK_STATE_COMPLETED',
  stopped: 'TASK_STATE_CANCELED',
  failed: 'TASK_STATE_FAILED',
  terminated: 'TASK_STATE_CANCELED',
};

export function endTask(
  open: OpenTask,
  { status: given, reason, error, cancelReason }: EventData['execution.ended'],
  at: RowPosition,
): TaskTransition {
  const status: RestStatus = given ?? 'idle';
  const why = status === 'failed' ? (error?.message ?? reason) : (cancelReason ?? reason);
  return setStatus(open, STATES[status], at, status === 'idle' ? [] : [{ text: why }]);
}

function setStatus(
  open: OpenTask,
  state: TaskState,
  { seq, at }: RowPosition,
  parts: readonly A2aPart[] = [],
): TaskTransition {
  const task = withStatus(open.task, { state, at, parts, messageId: `status-${seq}` });
  const { id: taskId, contextId, status } = task;
  return [{ ...open, task }, [{ statusUpdate: { taskId, contextId, status } } satisfies A2aFrame]];
}

interface GivenStatus {
  readonly state: TaskState;
  /** Microseconds since 1970. */
  readonly at: number;
  readonly parts?: readonly A2aPart[];
  readonly messageId: string;
}

export function withStatus(task: A2aTask, { state, at, parts = [], messageId }: GivenStatus): A2aTask {
  const { id: taskId, contextId } = task;
  const message = { messageId, contextId, taskId, role: 'ROLE_AGENT', parts } as const;
  const status = { state, ...(parts.length > 0 ? { message } : {}), timestamp: toTimestamp(at) };
  return { ...task, status };
}
