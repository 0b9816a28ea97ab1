/** Finds where a response begins in a thread's log: at the message that it answers, an approval, or an execution. */
import { followPages } from '../../../client/follow-events.ts';
import { readSuperseded } from '../../../client/history-rows.ts';
import type { RuntimeClient } from '../../../client/runtime-client.ts';
import type { ThreadEvent } from '../../../core/event/thread-event.ts';
import type { ExecutionRecord } from '../../../store/execution/execution-record.ts';
import type { SupersededTail } from '../../../store/message/message-record.ts';
import type { ThreadStore } from '../../../store/store.ts';
import type { ThreadRecord } from '../../../store/thread/thread-record.ts';

export interface ResponseBegin {
  /** The log is read behind this row. */
  readonly after: number;
  /** True for the row at which the response begins; absent: the next execution is the response. */
  readonly isBegin?: (event: ThreadEvent) => boolean;
  /** Set if a response that begins within a running execution is a new response, not a continuation. */
  readonly joins?: true;
  /** Set if the message has been sent before. */
  readonly repeated?: true;
  /** Set if the thread reads the message only once a wait is answered, at which the response ends again. */
  readonly queued?: true;
}

export type MessageFate = Pick<ResponseBegin, 'repeated' | 'queued'>;

/** Headers that tell what became of the message. */
export function fateHeaders({ repeated, queued }: MessageFate): Readonly<Record<string, string>> {
  return {
    ...(repeated && { 'everthread-repeated': 'true' }),
    ...(queued && { 'everthread-queued': 'true' }),
  };
}

type Place = Pick<ThreadRecord, 'id' | 'lastSeq'> & Partial<Pick<ThreadRecord, 'status'>>;

/** Begin of the response to a message that is about to be sent, or has been sent before; `queued` if the thread waits. */
export async function findMessageBegin(
  client: RuntimeClient,
  thread: Place,
  messageId: string,
): Promise<ResponseBegin> {
  const store = client.store;
  // A message that is answered again was created before, in a part that is superseded.
  const isSuperseded = await readSuperseded(store, thread.id);
  const isArrival = isArrivalOf(messageId);
  const isBegin = (event: ThreadEvent) => !isSuperseded(event) && isArrival(event);
  const [newest, previous] = await store.executions.list({ threadId: thread.id, limit: 2 });
  const known = await store.messages.get(thread.id, messageId);
  // Its item is there before the thread has taken it.
  const isSent = (await store.queue.readDelivery(thread.id, messageId)) !== 'unknown';
  const begin = { isBegin, joins: true, ...(isSent ? { repeated: true as const } : {}) } as const;
  if (known === null || known.status === 'pending') {
    const after = newest?.endedAt === null ? seqBefore(newest) : thread.lastSeq;
    return { ...begin, after, ...(thread.status === 'waiting' && { queued: true }) };
  }
  // A repeated message most likely began the newest execution: the log is searched from the one before it.
  const after = await resolveBeginSeq(store, thread.id, {
    near: previous ? seqBefore(previous) : 0,
    isBegin,
  });
  return { ...begin, after };
}

/** Begin of the response to a message that is answered again. */
export function beginBehind({ messageId, seq }: SupersededTail): ResponseBegin {
  return { after: seq, isBegin: isArrivalOf(messageId), joins: true };
}

/** The thread has taken the message, or refused it. */
function isArrivalOf(messageId: string): (event: ThreadEvent) => boolean {
  return (event) =>
    (event.type === 'message.created' && event.data.messageId === messageId) ||
    (event.type === 'item.rejected' && event.data.id === messageId);
}

/** Begin of the response that follows answers to waits. */
export async function findAnswerBegin(
  client: RuntimeClient,
  id: string,
  waitIds: readonly string[],
): Promise<ResponseBegin> {
  const store = client.store;
  const isBegin = ({ type, data }: ThreadEvent) =>
    (type === 'wait.answered' || type === 'wait.closed') &&
    waitIds.includes((data as { waitId: string }).waitId);
  const newest = await store.executions.get(id);
  return {
    after: await resolveBeginSeq(store, id, { near: newest ? seqBefore(newest) : 0, isBegin }),
    isBegin,
  };
}

/**
 * Begin of the open execution, else of the next one. To be called before checking whether the thread is at rest: an
 * execution that ends in between is then still found.
 */
export async function findCurrentBegin(client: RuntimeClient, threadId: string): Promise<ResponseBegin> {
  const newest = await client.store.executions.get(threadId);
  if (!newest) return { after: 0 };
  const open = newest.endedAt === null;
  const isBegin = (event: ThreadEvent) =>
    event.type === 'execution.started' && (event.data.executionId === newest.id) === open;
  return { after: seqBefore(newest), isBegin };
}

function seqBefore({ firstSeq }: ExecutionRecord): number {
  return firstSeq === null ? 0 : firstSeq - 1;
}

/** Returns `near` if the begin lies behind it, else 0. */
async function resolveBeginSeq(
  store: ThreadStore,
  threadId: string,
  { near, isBegin }: { readonly near: number; readonly isBegin: (event: ThreadEvent) => boolean },
): Promise<number> {
  for await (const page of followPages(store, threadId, { after: near, follow: false }))
    if (page.some(isBegin)) return near;
  return 0;
}
