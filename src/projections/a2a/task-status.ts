/** How a task stands: it works, waits for people, has ended; with a message where there is something to say. */
import type { EventData } from '../../core/event/event-data.ts';
import type { ThreadEventOf } from '../../core/event/thread-event.ts';
import type { RestStatus } from '../../core/thread/step.ts';
import { type A2aFrame, type A2aPart, type A2aTask, type TaskState, toTimestamp } from './a2a-shape.ts';
import type { TaskHandlers, TaskTold } from './task-handler.ts';
import type { OpenTask, OpenWait } from './task-state.ts';

/** The row that tells it. */
interface At {
  readonly seq: number;
  readonly at: number;
}

export const STATUS_HANDLERS: TaskHandlers = {
  'wait.opened': (open, { seq, at, data: { waitId, kind, name, summary } }) => {
    // A subagent that is not made yet holds no task up.
    if (kind === 'variables') return [open, []];
    const next = { ...open, waits: { ...open.waits, [waitId]: { waitId, kind, name, summary } } };
    return isWorking(open) ? [next, []] : toWaiting(next, { seq, at });
  },
  'wait.answered': closeWait,
  'wait.closed': closeWait,
  'thread.status': (open, { seq, at, data: { status } }) => {
    // What was answered before its thread rests is no reason to.
    if (status === 'waiting' && Object.keys(open.waits).length > 0) return toWaiting(open, { seq, at });
    if (status !== 'running' || isWorking(open)) return [open, []];
    return setStatus(open, 'TASK_STATE_WORKING', { seq, at });
  },
};

function isWorking({ task }: OpenTask): boolean {
  return task.status.state === 'TASK_STATE_WORKING';
}

/** With the last one the task works, whenever its thread says so. An answer that came as a message is history. */
function closeWait(
  open: OpenTask,
  { seq, at, data }: ThreadEventOf<'wait.answered'> | ThreadEventOf<'wait.closed'>,
): TaskTold {
  const { [data.waitId]: known, ...waits } = open.waits;
  if (!known) return [open, []];
  const next = { ...open, waits, task: withAnswer(open.task, data) };
  if (isWorking(open)) return [next, []];
  if (Object.keys(waits).length > 0) return toWaiting(next, { seq, at });
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
  const said = { messageId, contextId, taskId, role: 'ROLE_USER', parts: [{ data }] } as const;
  return { ...task, history: [...task.history, said] };
}

/** `by` of an answer that came as a message: who, and which one. */
export function answeredBy(name: string | null, messageId: string): string {
  return `${(name ?? 'a2a').slice(0, 180)}, message ${messageId}`;
}

function messageOf(by: string): string | undefined {
  return /, message ([!-~]{1,64})$/.exec(by)?.[1];
}

function toWaiting(open: OpenTask, at: At): TaskTold {
  return setStatus(open, 'TASK_STATE_INPUT_REQUIRED', at, Object.values(open.waits).flatMap(toParts));
}

/** What is asked, in words, and its id, which goes back with the answer. */
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
  at: At,
): TaskTold {
  const status: RestStatus = given ?? 'idle';
  const why = status === 'failed' ? (error?.message ?? reason) : (cancelReason ?? reason);
  return setStatus(open, STATES[status], at, status === 'idle' ? [] : [{ text: why }]);
}

function setStatus(
  open: OpenTask,
  state: TaskState,
  { seq, at }: At,
  parts: readonly A2aPart[] = [],
): TaskTold {
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
