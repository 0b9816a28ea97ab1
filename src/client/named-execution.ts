/**
 * Executions that their senders have named: begun once, and followed from wherever somebody has an id.
 * N1. Whoever begins it again attaches to it, and nothing is signalled for one that has begun; other words under its id are `ExecutionConflict`.
 * N2. It is looked for before its beginning is awaited, and awaited from behind what was there before: it may begin between two looks.
 */
import type { GivenContext } from '../core/governance/run-context.ts';
import { itemIdOf } from '../core/thread/execution-id.ts';
import type { StoredError } from '../core/thread/step.ts';
import { RuntimeError } from '../core/value/error.ts';
import type { Projected } from '../projections/projection.ts';
import type { TangleEvent } from '../projections/tangle/tangle-event.ts';
import type { ThreadStore } from '../store/port/thread-store.ts';
import { storeOf } from './client-store.ts';
import { followRows } from './follow-events.ts';
import { tanglePages } from './follow-run.ts';
import { makeThread, orNotFound } from './make-thread.ts';
import { prepareMessage } from './outgoing.ts';
import type { RuntimeClient } from './runtime-client.ts';

export interface BeginExecution {
  readonly executionId: string;
  readonly threadId: string;
  readonly content: string;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** With which the thread begins where it is not there; without one it has to be. */
  readonly agent?: string | undefined;
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  /** Of a thread that this begins. */
  readonly userId?: string | undefined;
  readonly context?: GivenContext | undefined;
}

/**
 * N1. Throws `ExecutionConflict`, `ThreadNotFound` where neither the thread nor an agent is there, and what a start or a message is refused
 * with.
 */
export async function beginExecution(client: RuntimeClient, begin: BeginExecution): Promise<void> {
  const { executionId, threadId, content, metadata, agent, userId, context } = begin;
  const message = { content, executionId, ...(metadata && { metadata }), ...(context && { context }) };
  const found = await client.getThread(threadId).catch(orNotFound);
  if (!found && agent !== undefined) {
    const start = { agent, threadId, userId, arguments: begin.arguments, context, messages: [message] };
    // The same, sent twice at once, may have made it meanwhile.
    if (await makeThread(client, start)) return;
  }
  const store = storeOf(client);
  if (await store.executions.get(threadId, executionId)) {
    const destination = { store, threadId, userId: found?.userId ?? userId ?? null, writeFile: noFile };
    await prepareMessage(destination, message);
  } else await client.queueMessage(threadId, message);
}

function noFile(): never {
  throw new RuntimeError('InvalidMessage', 'A turn brings no files.');
}

/** Threads of an execution by this id, those of whoever named it first; it need not have begun. */
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
  /** Events behind this cursor. */
  readonly after?: string | undefined;
  /** The row behind which it was sent: where the thread fails behind it before anything has begun, so has this. */
  readonly since?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * All events of an execution, from its beginning, which is awaited, to its last one. An empty page where the log has no more for now. Ends quietly
 * with its signal. Throws `InvalidValue` for a cursor that is none.
 */
export async function* executionPages(
  client: RuntimeClient,
  { threadId, executionId, after, since, signal }: FollowExecution,
): AsyncGenerator<readonly Projected<TangleEvent>[]> {
  const store = storeOf(client);
  // N2: before it is known whether it has begun.
  const [newest] = await store.executions.list({ threadId, limit: 1 });
  const begun = await store.executions.get(threadId, executionId);
  if (!begun) {
    const before = newest?.firstSeq ? newest.firstSeq - 1 : 0;
    for await (const page of awaitBeginning(client, { threadId, executionId, before, since, signal }))
      yield page;
    if (signal?.aborted || !(await store.executions.get(threadId, executionId))) return;
  }
  yield* tanglePages(store, threadId, { after, run: executionId, signal, marks: true });
}

/**
 * `executionPages`, ended where a person is waited for and the log has no more for now: with `execution.waiting`. Whoever comes back before the answer is told
 * it again.
 */
export async function* executionPagesUntilWait(
  client: RuntimeClient,
  following: FollowExecution,
): AsyncGenerator<readonly Projected<TangleEvent>[]> {
  const { threadId, executionId } = following;
  let cursor = following.after;
  for await (const page of executionPages(client, following)) {
    cursor = page.at(-1)?.cursor ?? cursor;
    yield page;
    // Of one that has not begun, what is waited for is another's.
    if (page.length > 0 || cursor === undefined) continue;
    const waitIds = await openWaits(client, threadId);
    if (waitIds.length === 0) continue;
    yield [{ cursor, event: { type: 'execution.waiting', data: { executionId, waitIds } } }];
    return;
  }
}

/** Those that block the thread. That it waits is a row of its own: whoever is too early is woken by it. */
async function openWaits(client: RuntimeClient, threadId: string): Promise<readonly string[]> {
  const { status } = await client.getThread(threadId);
  if (status !== 'waiting') return [];
  return (await client.listWaits({ threadId })).map(({ id }) => id);
}

interface Awaiting {
  readonly threadId: string;
  readonly executionId: string;
  readonly before: number;
  readonly since: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Ends where it has begun, or never will: with its last event then. */
async function* awaitBeginning(
  client: RuntimeClient,
  { threadId, executionId, before, since = Number.POSITIVE_INFINITY, signal }: Awaiting,
): AsyncGenerator<readonly Projected<TangleEvent>[]> {
  const itemId = itemIdOf(executionId);
  const lost = (seq: number, message: string, code: string): readonly Projected<TangleEvent>[] => [
    { cursor: `${seq}.0`, event: { type: 'error', data: { message, code } } },
    {
      cursor: `${seq}.1`,
      event: { type: 'execution.failed', data: { executionId, message, status: 'failed' } },
    },
  ];
  let seq = before;
  let failure: StoredError | undefined;
  let othersEnd: number | undefined;
  for await (const page of followRows(storeOf(client), threadId, { after: before, signal, marks: true })) {
    for (const { type, data, seq: row, at } of page) {
      seq = row;
      if (type === 'execution.started' && data.executionId === executionId) return;
      if (type === 'execution.ended') othersEnd = at;
      // That another one has failed is told of the thread as well, in the same transaction.
      if (type === 'thread.status')
        failure =
          row > since && at !== othersEnd && data.status === 'failed' ? (data.error ?? UNTOLD) : undefined;
      if (type === 'item.rejected' && data.id === itemId) {
        yield lost(row, data.reason, data.code);
        return;
      }
      // In line behind another one: it fails when its turn comes, and that is known already.
      if (type === 'produced.ended' && data.executionId === executionId && data.error) {
        yield lost(row, data.error.message, data.error.code);
        return;
      }
      if (type === 'message.deleted' && data.messageId === itemId) {
        yield lost(row, 'Its message was removed before it began.', 'MessageNotFound');
        return;
      }
    }
    // What it lacks, to begin at all, stands with the thread.
    if (page.length === 0 && failure) {
      yield lost(seq, failure.message, failure.code);
      return;
    }
    yield [];
  }
  if (!signal?.aborted) yield lost(seq, `The thread "${threadId}" is terminated.`, 'ThreadTerminated');
}

const UNTOLD: StoredError = { code: 'Unknown', message: 'The thread has failed.' };
