/** Where in a thread's log a response of a chat begins: with the message that it answers, with an approval, or with an execution. */
import { storeOf } from '../../../client/client-store.ts';
import { followPages } from '../../../client/follow-events.ts';
import type { RuntimeClient } from '../../../client/runtime-client.ts';
import type { ThreadEvent } from '../../../core/event/thread-event.ts';
import type { ExecutionRecord, ThreadRecord, ThreadStore } from '../../../store/port/thread-store.ts';

export interface ChatBegin {
  /** The log is read behind this row. */
  readonly after: number;
  /** The row with which it begins; absent: the next execution is the response. */
  readonly isBegin?: (event: ThreadEvent) => boolean;
  /** What begins it may join an execution that is under way. */
  readonly joins?: true;
}

type Place = Pick<ThreadRecord, 'id' | 'lastSeq'>;

/** Of a message that is about to be sent, or has been sent before. */
export async function beginOfMessage(
  client: RuntimeClient,
  thread: Place,
  messageId: string,
): Promise<ChatBegin> {
  const store = storeOf(client);
  const isBegin = (event: ThreadEvent) =>
    (event.type === 'message.created' && event.data.messageId === messageId) ||
    (event.type === 'item.rejected' && event.data.id === messageId);
  const [newest, previous] = await store.executions.list({ threadId: thread.id, limit: 2 });
  const known = await store.messages.get(thread.id, messageId);
  if (known === null || known.status === 'pending')
    return { after: newest?.endedAt === null ? before(newest) : thread.lastSeq, isBegin, joins: true };
  // Sent again: most likely it began the newest execution, just behind the one before.
  const after = await nearest(store, thread.id, { near: previous ? before(previous) : 0, isBegin });
  return { after, isBegin, joins: true };
}

/** Of what goes on behind an answer. */
export async function beginOfAnswer(
  client: RuntimeClient,
  { id }: Place,
  waitIds: readonly string[],
): Promise<ChatBegin> {
  const store = storeOf(client);
  const isBegin = ({ type, data }: ThreadEvent) =>
    (type === 'wait.answered' || type === 'wait.closed') &&
    waitIds.includes((data as { waitId: string }).waitId);
  const newest = await store.executions.get(id);
  return { after: await nearest(store, id, { near: newest ? before(newest) : 0, isBegin }), isBegin };
}

/**
 * Of what the thread does now, from its beginning: the execution that is open, else the next one. Asked before it is known whether the thread
 * is at rest, so that what ends meanwhile is told all the same.
 */
export async function beginOfCurrent(client: RuntimeClient, threadId: string): Promise<ChatBegin> {
  const newest = await storeOf(client).executions.get(threadId);
  if (!newest) return { after: 0 };
  const open = newest.endedAt === null;
  const isBegin = (event: ThreadEvent) =>
    event.type === 'execution.started' && (event.data.executionId === newest.id) === open;
  return { after: before(newest), isBegin };
}

function before({ firstSeq }: ExecutionRecord): number {
  return firstSeq === null ? 0 : firstSeq - 1;
}

/** 0 where what is looked for lies further back. */
async function nearest(
  store: ThreadStore,
  threadId: string,
  { near, isBegin }: { readonly near: number; readonly isBegin: (event: ThreadEvent) => boolean },
): Promise<number> {
  for await (const page of followPages(store, threadId, { after: near, follow: false }))
    if (page.some(isBegin)) return near;
  return 0;
}
