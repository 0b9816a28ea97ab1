/**
 * Tasks of remote agents (A2A), keyed by the calls that have begun them.
 * T1. The key is the call. Its endpoint is stored before anything is sent, so a stored endpoint means: perhaps sent.
 * - A task is known once: another id for the same call changes nothing.
 * T6. An unwanted task is found by its call: the call or its thread has ended, while the task may still run.
 */
import type { Selectable } from 'kysely';
import { type CommandContext, inThread, refuseTerminated } from '../transaction/context.ts';
import { OPEN_CALL } from '../transaction/step-row.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import type { A2aCallKey, A2aTaskRecord, A2aTaskTable, BeginA2aTask, NoteA2aTask } from './a2a-record.ts';

/** Failed cancellations after which a task is given up: about an hour of regular attempts. */
const MAX_CANCELS = 100;

/** Stores the task, before its agent is contacted. The same call again returns the existing record. */
export async function beginA2aTask(context: CommandContext, command: BeginA2aTask): Promise<A2aTaskRecord> {
  const { threadId, step, index, agent, contextId, messageId } = command;
  return inThread(context, threadId, async (thread) => {
    // T1: the call is already known.
    const known = await find(thread, command);
    if (known) return toRecord(known);
    refuseTerminated(thread);
    const row: A2aTaskTable = {
      thread_id: threadId,
      step,
      idx: index,
      agent,
      context_id: contextId,
      message_id: messageId,
      endpoint: 'null',
      task_id: null,
      answers: 0,
      open: 1,
      sent_at: thread.now,
      silent_since: null,
      cancels: 0,
    };
    await thread.insert('a2a_tasks', row);
    return toRecord(row);
  });
}

/** Updates a task and returns the record; null if the thread was deleted. */
export async function noteA2aTask(
  context: CommandContext,
  command: NoteA2aTask,
): Promise<A2aTaskRecord | null> {
  const { endpoint, taskId, answers, unsent, over, reached, cancelFailed } = command;
  return inThread(context, command.threadId, async (thread) => {
    const row = await find(thread, command);
    if (!row) return null;
    const isNew = taskId !== undefined && row.task_id === null;
    const changes = {
      ...(endpoint !== undefined && { endpoint: JSON.stringify(endpoint) }),
      ...(isNew && { task_id: taskId }),
      ...(answers !== undefined && { answers: Math.max(answers, row.answers) }),
      ...(unsent !== undefined && { answers: Math.min(unsent, row.answers) }),
      ...(over && { open: 0 as const }),
      ...(reached !== undefined && { silent_since: reached ? null : (row.silent_since ?? thread.now) }),
      ...(cancelFailed && { cancels: row.cancels + 1 }),
    };
    await thread.update('a2a_tasks', { step: row.step, idx: row.idx }, changes);
    if (isNew)
      thread.emit('a2a.task', { agent: row.agent, taskId, contextId: row.context_id }, { step: row.step });
    return toRecord({ ...row, ...changes });
  });
}

/**
 * Tasks that may still run although their call or their thread is over; only those of one thread if it is given. At
 * most 100; a task that could not be cancelled 100 times is given up.
 */
export async function listUnwantedA2aTasks(
  { db }: CommandContext,
  threadId?: string,
): Promise<readonly A2aTaskRecord[]> {
  // T6: by the state of the call and of the thread.
  const rows = await db
    .selectFrom('a2a_tasks as task')
    .leftJoin('tool_calls as call', (join) =>
      join
        .onRef('call.thread_id', '=', 'task.thread_id')
        .onRef('call.step', '=', 'task.step')
        .onRef('call.idx', '=', 'task.idx'),
    )
    .innerJoin('threads as thread', 'thread.id', 'task.thread_id')
    .selectAll('task')
    .where('task.open', '=', 1)
    .where('task.cancels', '<', MAX_CANCELS)
    .where((is) =>
      is.or([
        is('thread.terminated_at', 'is not', null),
        is('call.state', 'is', null),
        is('call.state', 'not in', [...OPEN_CALL]),
      ]),
    )
    .$if(threadId !== undefined, (query) => query.where('task.thread_id', '=', threadId as string))
    .orderBy('task.sent_at')
    .limit(100)
    .execute();
  return rows.map(toRecord);
}

function find(thread: ThreadTransaction, { step, index }: A2aCallKey) {
  return thread.find('a2a_tasks', { step, idx: index });
}

function toRecord(row: Selectable<A2aTaskTable>): A2aTaskRecord {
  return {
    threadId: row.thread_id,
    step: row.step,
    index: row.idx,
    agent: row.agent,
    contextId: row.context_id,
    messageId: row.message_id,
    endpoint: JSON.parse(row.endpoint),
    taskId: row.task_id,
    answers: row.answers,
    open: row.open === 1,
    sentAt: row.sent_at,
    silentSince: row.silent_since,
  };
}
