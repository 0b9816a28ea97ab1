/**
 * Executions whose ids are chosen by their senders: begun once, and followed by anyone who has an id.
 * - Beginning an execution again attaches to it. Nothing is signalled for one that has begun; other content under its
 *   id is `ExecutionConflict`.
 * - The log position to await its beginning from is read before checking whether it has begun. So a beginning between
 *   the two reads is not missed.
 */
import type { GivenContext } from '../core/governance/run-context.ts';
import { itemIdOf } from '../core/thread/execution-id.ts';
import type { StoredError } from '../core/thread/step.ts';
import { RuntimeError } from '../core/value/error.ts';
import { EXECUTION_FORM, type ExecutionEvent } from '../projections/log-form.ts';
import type { Projected } from '../projections/projection.ts';
import type { ThreadStore } from '../store/store.ts';
import type { ToolPayload } from '../workflows/messages.ts';
import { followRows } from './follow-events.ts';
import { formPages } from './follow-run.ts';
import { makeThread, nullIfThreadNotFound } from './make-thread.ts';
import { prepareMessage } from './outgoing.ts';
import { prepareTool } from './outgoing-tool.ts';
import type { RuntimeClient } from './runtime-client.ts';

export interface BeginExecution {
  readonly executionId: string;
  readonly threadId: string;
  /** What it begins with: a message of this content, or the call of a tool. */
  readonly content: string | Pick<ToolPayload, 'name' | 'arguments' | 'unanswered'>;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** Agent to start the thread with if it does not exist; without one the thread must exist. */
  readonly agent?: string | undefined;
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  /** User of a thread that this call starts. */
  readonly userId?: string | undefined;
  readonly context?: GivenContext | undefined;
  /** Context of a thread that this call starts; that of the message unless given. It is no content of the execution. */
  readonly standing?: GivenContext | undefined;
}

/**
 * Throws `ExecutionConflict`, `ThreadNotFound` if the thread does not exist and no agent is given, and what a start
 *     or a message is refused with.
 */
export async function beginExecution(client: RuntimeClient, begin: BeginExecution): Promise<void> {
  const { threadId, agent, userId, context, standing = context } = begin;
  const item = toItem(begin);
  const found = await client.getThread(threadId).catch(nullIfThreadNotFound);
  if (!found && agent !== undefined) {
    const messages = 'name' in item ? [] : [item];
    const start = { agent, threadId, userId, arguments: begin.arguments, context: standing, messages };
    // A concurrent call with the same content may have created the thread in the meantime.
    if ((await makeThread(client, start)) && messages.length > 0) return;
  }
  const { store } = client;
  if (await store.executions.get(threadId, item.executionId)) {
    const place = { store, threadId, userId: found?.userId ?? userId ?? null, writeFile: refuseFile };
    await ('name' in item ? prepareTool(store, place, item) : prepareMessage(place, item));
  } else await ('name' in item ? client.queueTool(threadId, item) : client.queueMessage(threadId, item));
}

function toItem({ content, executionId, metadata, context }: BeginExecution) {
  const own = { executionId, ...(context && { context }) };
  return typeof content === 'string'
    ? { content, ...(metadata && { metadata }), ...own }
    : { ...content, ...own };
}

function refuseFile(): never {
  throw new RuntimeError('InvalidMessage', 'A turn cannot contain files.');
}

/**
 * Returns the ids of the threads that have claimed or begun an execution of this id, newest claim first. It need not
 * have begun.
 */
export async function findNamedExecution(
  store: ThreadStore,
  executionId: string,
): Promise<readonly string[]> {
  const claims = await store.queue.findClaims(executionId);
  const begun = await store.executions.find(executionId);
  const own = begun?.id === executionId ? [begun.threadId] : [];
  return [...new Set([...claims.map(({ threadId }) => threadId), ...own])];
}

export interface FollowExecution {
  readonly threadId: string;
  readonly executionId: string;
  /** Only events after this cursor. */
  readonly after?: string | undefined;
  /**
   * Number of the log row after which it was sent: if the thread fails after that row and before any execution has
   * begun, this one has failed, too.
   */
  readonly since?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Yields all events of an execution, from its beginning, which is awaited, to its last one. An empty page means that
 * the log has no more for now. Returns without an error when its signal aborts. Throws `InvalidValue` for an invalid
 * cursor.
 */
export async function* executionPages(
  client: RuntimeClient,
  { threadId, executionId, after, since, signal }: FollowExecution,
): AsyncGenerator<readonly Projected<ExecutionEvent>[]> {
  const store = client.store;
  // Read before checking whether it has begun.
  const [newest] = await store.executions.list({ threadId, limit: 1 });
  const begun = await store.executions.get(threadId, executionId);
  if (!begun) {
    const before = newest?.firstSeq ? newest.firstSeq - 1 : 0;
    for await (const page of awaitBeginning(client, { threadId, executionId, before, since, signal }))
      yield page;
    if (signal?.aborted || !(await store.executions.get(threadId, executionId))) return;
  }
  yield* formPages(store, threadId, EXECUTION_FORM, { after, run: executionId, signal, marks: true });
}

/**
 * Like `executionPages`, but ends with `execution.waiting` if people are waited for and the log has no more for now. A
 * reader that reconnects before they have answered receives it again.
 */
export async function* executionPagesUntilWait(
  client: RuntimeClient,
  following: FollowExecution,
): AsyncGenerator<readonly Projected<ExecutionEvent>[]> {
  const { threadId, executionId } = following;
  let cursor = following.after;
  for await (const page of executionPages(client, following)) {
    cursor = page.at(-1)?.cursor ?? cursor;
    yield page;
    // If this one has not begun, the open waits belong to another execution.
    if (page.length > 0 || cursor === undefined) continue;
    const waitIds = await openWaits(client, threadId);
    if (waitIds.length === 0) continue;
    yield [{ cursor, event: { type: 'execution.waiting', data: { executionId, waitIds } } }];
    return;
  }
}

/**
 * Ids of the open waits of a thread that is waiting. Its change of status is a log row: a reader that checks too early
 * is woken by it.
 */
async function openWaits(client: RuntimeClient, threadId: string): Promise<readonly string[]> {
  const { status } = await client.getThread(threadId);
  if (status !== 'waiting') return [];
  return (await client.listWaits({ threadId })).map(({ id }) => id);
}

interface AwaitedExecution {
  readonly threadId: string;
  readonly executionId: string;
  readonly before: number;
  readonly since: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Returns once the execution has begun. If it never will, the last page is its end. */
async function* awaitBeginning(
  client: RuntimeClient,
  { threadId, executionId, before, since = Number.POSITIVE_INFINITY, signal }: AwaitedExecution,
): AsyncGenerator<readonly Projected<ExecutionEvent>[]> {
  const itemId = itemIdOf(executionId);
  const lost = (seq: number, message: string, code: string): readonly Projected<ExecutionEvent>[] => [
    { cursor: `${seq}.0`, event: { type: 'error', data: { message, code } } },
    {
      cursor: `${seq}.1`,
      event: { type: 'execution.failed', data: { executionId, message, status: 'failed' } },
    },
  ];
  let seq = before;
  let failure: StoredError | undefined;
  let othersEnd: number | undefined;
  for await (const page of followRows(client.store, threadId, { after: before, signal, marks: true })) {
    for (const { type, data, seq: row, at } of page) {
      seq = row;
      if (type === 'execution.started' && data.executionId === executionId) return;
      if (type === 'execution.ended') othersEnd = at;
      // The failure of another execution sets the status of the thread, too, in the same transaction (the same `at`).
      if (type === 'thread.status')
        failure =
          row > since && at !== othersEnd && data.status === 'failed'
            ? (data.error ?? UNKNOWN_ERROR)
            : undefined;
      if (type === 'item.rejected' && data.id === itemId) {
        yield lost(row, data.reason, data.code);
        return;
      }
      // Queued behind another execution: its producer has failed already, so it will fail when its turn comes.
      if (type === 'produced.ended' && data.executionId === executionId && data.error) {
        yield lost(row, data.error.message, data.error.code);
        return;
      }
      if (type === 'message.deleted' && data.messageId === itemId) {
        yield lost(
          row,
          'The message of the execution was removed before the execution began.',
          'MessageNotFound',
        );
        return;
      }
    }
    // What prevents it from beginning is recorded as the error of the thread.
    if (page.length === 0 && failure) {
      yield lost(seq, failure.message, failure.code);
      return;
    }
    yield [];
  }
  if (!signal?.aborted) yield lost(seq, `The thread "${threadId}" is terminated.`, 'ThreadTerminated');
}

const UNKNOWN_ERROR: StoredError = { code: 'Unknown', message: 'The thread has failed.' };
