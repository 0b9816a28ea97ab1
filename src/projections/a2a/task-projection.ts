/**
 * Projects the log as tasks of A2A: an execution is a task. The state after each row has the whole task, so a reader
 * that joins late receives the task first and then its changes. The projection may begin at the start of any execution,
 * or some rows before it, so that it also reads the messages that begin the execution.
 * - A task ends once.
 * - Nothing that happens between executions is emitted.
 */
import type { ThreadEvent } from '../../core/event/thread-event.ts';
import type { LogRow, Projection } from '../projection.ts';
import { toRowMessage } from '../row-message.ts';
import type { A2aFrame } from './a2a-shape.ts';
import { ARTIFACT_HANDLERS } from './task-artifact.ts';
import type { TaskHandlers, TaskTransition } from './task-handler.ts';
import { toA2aMessage } from './task-message.ts';
import { type OpenTask, openTask, type TaskReading } from './task-state.ts';
import { endTask, STATUS_HANDLERS } from './task-status.ts';

const HANDLERS: TaskHandlers = { ...ARTIFACT_HANDLERS, ...STATUS_HANDLERS };

export const projectTasks: Projection<TaskReading, A2aFrame> = (reading, row) => {
  const { event } = row;
  const { open, contextId } = reading;
  if (event.type === 'execution.started') {
    const begun = openTask(reading, event.data.executionId, event.at);
    const { id: taskId, status } = begun.task;
    return [{ ...reading, received: [], open: begun }, [{ statusUpdate: { taskId, contextId, status } }]];
  }
  if (event.type === 'message.created') return handleMessage(reading, row);
  if (!open) return [isExecutionRow(event) ? { ...reading, received: [] } : reading, []];
  // The last frame of the task.
  if (event.type === 'execution.ended') {
    const [{ task }, frames] = endTask(open, event.data, event);
    return [{ ...reading, received: [], open: null, ended: task }, frames];
  }
  const [next, frames] = handle(open, event);
  return [{ ...reading, open: next }, frames];
};

/** True for rows of an execution whose beginning was not read: earlier messages belong to it, not to the next one. */
function isExecutionRow({ type }: ThreadEvent): boolean {
  return type === 'execution.ended' || type === 'step.started' || type === 'step.committed';
}

function handle(open: OpenTask, event: ThreadEvent): TaskTransition {
  // The handler is looked up by the type of the event, so the cast is safe.
  const handler = HANDLERS[event.type] as
    | ((open: OpenTask, event: ThreadEvent) => TaskTransition)
    | undefined;
  return handler ? handler(open, event) : [open, []];
}

/** Adds a user's message to the history of the open task, or keeps it for the task that it will begin. */
function handleMessage(
  reading: TaskReading,
  { event, message }: LogRow,
): readonly [TaskReading, readonly A2aFrame[]] {
  if (event.type !== 'message.created') return [reading, []];
  const { messageId, role, depth } = event.data;
  const { open, contextId } = reading;
  const said = toRowMessage(messageId, message);
  if (role !== 'user' || depth !== undefined || !message || message.silent)
    return [open ? { ...reading, open: { ...open, said } } : reading, []];
  const userMessage = toA2aMessage(contextId, message);
  if (!open) return [{ ...reading, received: [...reading.received, userMessage] }, []];
  const { task } = open;
  const history = [...task.history, { ...userMessage, taskId: task.id }];
  return [{ ...reading, open: { ...open, said, task: { ...task, history } } }, []];
}
