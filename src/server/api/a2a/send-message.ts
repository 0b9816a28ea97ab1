/**
 * Sends a message of A2A to a thread: it begins a task, joins a task that works, or answers one that waits.
 * - A message id counts once: a repeated message finds its task. Another content under the same id is refused.
 */
import { hash } from 'node:crypto';
import { isThreadId } from '../../../core/thread/start-input.ts';
import { deriveThreadId } from '../../../core/thread/thread-id.ts';
import { isTerminal } from '../../../projections/a2a/a2a-shape.ts';
import { type Caller, callerContext, withTracedContext } from '../caller.ts';
import { ownFiles } from '../conversation/own-files.ts';
import type { ApiHost } from '../host.ts';
import { refuseRequest } from '../problem.ts';
import { findOwnThread, sendToThread } from '../turn/turn.ts';
import { A2aRefusal } from './a2a-error.ts';
import { type SentMessage, toOutgoing } from './a2a-request.ts';
import { answerTask } from './answer-task.ts';
import { type FoundTask, findTask } from './find-task.ts';
import { readTask } from './task-reading.ts';

export interface SendMessageInput {
  readonly agent: string;
  readonly message: SentMessage;
}

/** Where a message goes: `task` is the one that it continues. */
export interface MessageTarget {
  readonly threadId: string;
  readonly task: FoundTask | null;
}

export interface SentTask extends FoundTask {
  /** Id of the wait that the message answered. */
  readonly answered?: string | undefined;
}

/** Throws `InvalidRequest`, `ExecutionNotFound`. */
export async function findTarget(
  host: ApiHost,
  caller: Caller,
  { agent, message }: SendMessageInput,
): Promise<MessageTarget> {
  const { taskId, contextId } = message;
  if (taskId === undefined) {
    const threadId = contextId ?? contextOf(caller, agent, message);
    if (isThreadId(threadId)) return { threadId, task: null };
    return refuseRequest(
      'A "contextId" must contain only letters, digits and . _ : -, and begin with a letter or a digit.',
    );
  }
  const task = await findTask(host, caller, { agent, taskId });
  const threadId = task.thread.id;
  if (contextId === undefined || contextId === threadId) return { threadId, task };
  return refuseRequest(`The task "${taskId}" does not belong to the context "${contextId}".`);
}

/** Returns the task that the message begins, joins or answers. Throws the errors of a refused start or message. */
export function sendMessage(
  host: ApiHost,
  caller: Caller,
  saying: SendMessageInput & MessageTarget,
): Promise<SentTask> {
  const { task, message } = saying;
  return task ? continueTask(host, caller, { task, message }) : beginTask(host, caller, saying);
}

async function beginTask(
  host: ApiHost,
  caller: Caller,
  { agent, message, threadId }: SendMessageInput & MessageTarget,
): Promise<FoundTask> {
  const { client } = host;
  const taskId = taskIdOf(threadId, message.messageId);
  const context = callerContext(caller);
  const copy = ownFiles(client, caller, threadId);
  const said = await toOutgoing(message, { threadId, copy });
  const outgoing = { ...said, executionId: taskId, ...(context ? { context } : {}) };
  const found = await findOwnThread(host, caller, { agent, threadId });
  await sendToThread(host, caller, { agent, threadId, found }, outgoing);
  return findTask(host, caller, { agent, taskId });
}

async function continueTask(
  host: ApiHost,
  caller: Caller,
  { task: found, message }: { readonly task: FoundTask; readonly message: SentMessage },
): Promise<SentTask> {
  const { client } = host;
  const { thread, taskId } = found;
  const copy = ownFiles(client, caller, thread.id);
  const outgoing = await toOutgoing(message, { threadId: thread.id, copy });
  const { status, history } = await readTask(client, found);
  // The message is already in the task's history, or in line.
  const isKnown = history.some(({ messageId }) => messageId === outgoing.id);
  if (isKnown || (await client.getMessage(thread.id, outgoing.id))) return found;
  if (isTerminal(status.state))
    throw new A2aRefusal(
      'UNSUPPORTED_OPERATION',
      `The task "${taskId}" has ended: send the message to its context, "${thread.id}", without a "taskId".`,
    );
  if (status.state === 'TASK_STATE_INPUT_REQUIRED')
    return { ...found, answered: await answerTask(host, caller, { status, message }) };
  await client.queueMessage(thread.id, withTracedContext(caller, outgoing));
  return found;
}

/** Returns the id of the task that a message begins in a context; always the same for the same message. */
export function taskIdOf(contextId: string, messageId: string): string {
  return `task-${digestOf(contextId, messageId).slice(0, 40)}`;
}

/**
 * Returns the context of a message that names none; always the same for the same message of the same caller. Not every
 * client's message ids are unique, so the content counts, too.
 */
function contextOf(
  { userId, organizationId = null }: Caller,
  agent: string,
  { messageId, parts }: SentMessage,
): string {
  const owner = JSON.stringify([userId, organizationId]);
  return deriveThreadId(agent, digestOf(owner, agent, messageId, JSON.stringify(parts)));
}

function digestOf(...parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts));
}
