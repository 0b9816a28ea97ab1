/**
 * Reads a task from its thread's log: its present state, then its changes.
 * - The first frame is the task's state after a row, and later frames begin with the next row. Nothing is missed in
 *   between.
 * - A wait counts only at the end of the log for now. If it was answered since, more rows follow.
 * - The thread's newest execution is read before the task's own, because the task may begin between the two reads.
 */
import { followRows } from '../../../client/follow-events.ts';
import { fillRows } from '../../../client/follow-run.ts';
import type { RuntimeClient } from '../../../client/runtime-client.ts';
import type { ThreadEvent } from '../../../core/event/thread-event.ts';
import { isRuntimeError } from '../../../core/value/error.ts';
import {
  type A2aFrame,
  type A2aTask,
  isInterrupted,
  isTerminal,
  type TaskState,
  toTimestamp,
  waitsOf,
} from '../../../projections/a2a/a2a-shape.ts';
import { toA2aMessage } from '../../../projections/a2a/task-message.ts';
import { projectTasks } from '../../../projections/a2a/task-projection.ts';
import { beginTasks, type TaskReading } from '../../../projections/a2a/task-state.ts';
import { withStatus } from '../../../projections/a2a/task-status.ts';
import { type Cursor, withCursors } from '../../../projections/projection.ts';
import type { FoundTask } from './find-task.ts';

export interface ReadTask extends FoundTask {
  /** `now`: its present state. `rest`: until it has ended or waits for a person. `end`: until it has ended. */
  readonly until: 'now' | 'rest' | 'end';
  /** If given, only frames behind this cursor are read; else the task comes first. */
  readonly after?: Cursor | undefined;
  /** Id of a wait that was just answered: while the log still shows it as open, the task does not count as waiting. */
  readonly answered?: string | undefined;
  readonly signal?: AbortSignal;
}

export interface TaskPage {
  /** The state of the task after these frames. */
  readonly task: A2aTask;
  readonly frames: readonly { readonly cursor: string; readonly frame: A2aFrame }[];
}

/** Rows that are read before an execution's first one: items that were drained for it come just before it. */
const LOOKBACK_ROWS = 32;
/** Second number of a cursor that lies behind all frames of a row. */
const LAST_OF_ROW = 999_999_999;

export async function* taskPages(client: RuntimeClient, asked: ReadTask): AsyncGenerator<TaskPage> {
  const { thread, taskId, itemId, until, after, signal } = asked;
  const store = client.store;
  // Before it is known whether the task has begun.
  const newest = await store.executions.get(thread.id);
  const begun = await store.executions.get(thread.id, taskId);
  const from = Math.max(0, ((begun ?? newest)?.firstSeq ?? 1) - 1 - LOOKBACK_ROWS);
  let reading = beginTasks(thread.id);
  let ahead = await toSubmittedTask(client, asked);
  let seq = from;
  let snapshotSent = after !== undefined;
  const follow = until === 'now' ? 'marked' : true;
  for await (const page of followRows(store, thread.id, { after: from, follow, signal, marks: true })) {
    const frames: { cursor: string; frame: A2aFrame }[] = [];
    for (const row of await fillRows(store, thread.id, page)) {
      const [next, outgoing] = projectTasks(reading, row);
      const mine = taskOf(reading, taskId) !== undefined || taskOf(next, taskId) !== undefined;
      reading = next;
      seq = row.event.seq;
      if (mine && snapshotSent)
        for (const { cursor, event } of withCursors(row, outgoing, after))
          frames.push({ cursor, frame: event });
      const end = taskOf(reading, taskId) ? undefined : endBeforeBegin(row.event, itemId);
      if (end) {
        ahead = withStatus(ahead, { ...end, at: row.event.at, messageId: `status-${seq}` });
        if (snapshotSent) frames.push({ cursor: `${seq}.0`, frame: toStatus(ahead) });
      }
      // Later rows belong to other tasks.
      if (isTerminal((taskOf(reading, taskId) ?? ahead).status.state)) break;
    }
    const marked = page.length === 0;
    if (marked && !taskOf(reading, taskId) && !isTerminal(ahead.status.state)) {
      const stuck = await failIfStuck(client, ahead, { ...asked, seq });
      if (snapshotSent && stuck !== ahead)
        frames.push({ cursor: `${seq}.${LAST_OF_ROW}`, frame: toStatus(stuck) });
      ahead = stuck;
    }
    const task = taskOf(reading, taskId) ?? ahead;
    const over = isTerminal(task.status.state);
    // A task that has ended does not wait for the end of the log.
    if (!snapshotSent && (marked || over)) {
      snapshotSent = true;
      frames.push({ cursor: `${seq}.${LAST_OF_ROW}`, frame: { task } });
    }
    if (snapshotSent) yield { task, frames };
    // The end of the log for now.
    if (over || (marked && until === 'rest' && isAtRestFor(task, asked))) return;
  }
  if (signal?.aborted || until === 'now') return;
  // The log has ended: the thread is terminated.
  const task = taskOf(reading, taskId) ?? ahead;
  const ended = withStatus(task, {
    state: 'TASK_STATE_CANCELED',
    at: Date.now() * 1000,
    messageId: `status-${seq}`,
  });
  const frame: A2aFrame = snapshotSent ? toStatus(ended) : { task: ended };
  yield { task: ended, frames: [{ cursor: `${seq}.${LAST_OF_ROW}`, frame }] };
}

function isAtRestFor({ status }: A2aTask, { answered }: ReadTask): boolean {
  return isInterrupted(status.state) && !waitsOf(status).some(({ waitId }) => waitId === answered);
}

/** Returns the task in its present state. */
export async function readTask(client: RuntimeClient, found: FoundTask): Promise<A2aTask> {
  for await (const { task } of taskPages(client, { ...found, until: 'now' })) return task;
  throw new Error(`The log of thread "${found.thread.id}" has nothing about the task "${found.taskId}".`);
}

function taskOf({ open, ended }: TaskReading, id: string): A2aTask | undefined {
  return open?.task.id === id ? open.task : ended?.id === id ? ended : undefined;
}

/** Returns a task that has not begun: its message is in line behind the running execution. */
async function toSubmittedTask(
  client: RuntimeClient,
  { thread, taskId, itemId }: ReadTask,
): Promise<A2aTask> {
  const message = itemId === null ? null : await client.getMessage(thread.id, itemId);
  const history = message ? [{ ...toA2aMessage(thread.id, message), taskId }] : [];
  const at = message?.created_at ?? thread.createdAt;
  const status = { state: 'TASK_STATE_SUBMITTED', timestamp: toTimestamp(at) } as const;
  return { id: taskId, contextId: thread.id, status, artifacts: [], history };
}

/** Returns the final state if the row shows that the task will never begin. */
function endBeforeBegin(
  event: ThreadEvent,
  itemId: string | null,
): { readonly state: TaskState; readonly parts: readonly { readonly text: string }[] } | undefined {
  if (event.type === 'item.rejected' && event.data.id === itemId)
    return { state: 'TASK_STATE_REJECTED', parts: [{ text: event.data.reason }] };
  if (event.type === 'message.deleted' && event.data.messageId === itemId)
    return { state: 'TASK_STATE_CANCELED', parts: [{ text: 'The message of the task was removed.' }] };
  if (event.type === 'thread.terminated')
    return { state: 'TASK_STATE_CANCELED', parts: [{ text: 'The thread is terminated.' }] };
  return undefined;
}

/**
 * Returns the task as failed if its thread has failed and will not begin it. The thread may have failed at something
 * else, and be about to take the task's message. So it is polled until this is known, because its log may not grow.
 */
async function failIfStuck(
  client: RuntimeClient,
  ahead: A2aTask,
  { itemId, until, signal, seq }: ReadTask & { readonly seq: number },
): Promise<A2aTask> {
  const { contextId: threadId } = ahead;
  for (;;) {
    const { status, lastError, updatedAt } = await client.getThread(threadId);
    if (status !== 'failed' || itemId === null) return ahead;
    if ((await client.getMessage(threadId, itemId))?.status !== 'pending') return ahead;
    if (await restsAsFailed(client, { threadId, itemId, timeoutMs: until === 'now' ? 0 : POLL_MS })) {
      const parts = [{ text: lastError?.message ?? 'The thread has failed.' }];
      const failed = {
        state: 'TASK_STATE_FAILED',
        at: updatedAt,
        parts,
        messageId: `status-${seq}`,
      } as const;
      return withStatus(ahead, failed);
    }
    if (until === 'now' || signal?.aborted) return ahead;
  }
}

const POLL_MS = 500;

interface RestCheck {
  readonly threadId: string;
  readonly itemId: string;
  readonly timeoutMs: number;
}

/** True if store and workflow agree that the thread rests as failed, whatever else this process has sent. */
function restsAsFailed(client: RuntimeClient, { threadId, itemId, timeoutMs }: RestCheck): Promise<boolean> {
  const sent = { ids: [itemId], words: [itemId] };
  return client.waitForIdle(threadId, { timeoutMs, sent }).then(
    ({ status }) => status === 'failed',
    (error) => {
      if (isRuntimeError(error, 'Timeout')) return false;
      throw error;
    },
  );
}

function toStatus({ id: taskId, contextId, status }: A2aTask): A2aFrame {
  return { statusUpdate: { taskId, contextId, status } };
}
