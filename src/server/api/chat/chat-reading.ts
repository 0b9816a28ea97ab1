/**
 * A response of a chat, read off its thread's log: from where it begins to the end of its execution, or to where a person is waited for.
 * R1. A reading that begins in the middle of an execution knows what was before: it reads from the execution's start, and tells from there on.
 * R2. It waits for a person only once the log has no more for now: what was answered since has gone on behind it.
 */
import { storeOf } from '../../../client/client-store.ts';
import { followPages } from '../../../client/follow-events.ts';
import { fillRows } from '../../../client/follow-run.ts';
import type { RuntimeClient } from '../../../client/runtime-client.ts';
import type { ThreadEvent } from '../../../core/event/thread-event.ts';
import { isRuntimeError } from '../../../core/value/error.ts';
import { endAtWait } from '../../../projections/ai-sdk/chat-end.ts';
import { projectChat } from '../../../projections/ai-sdk/chat-projection.ts';
import { beginChat, type ChatReading } from '../../../projections/ai-sdk/chat-state.ts';
import type { UiChunk, UiDialect } from '../../../projections/ai-sdk/ui-chunk.ts';
import type { ChatBegin } from './chat-begin.ts';

export interface ChatResponse {
  readonly threadId: string;
  readonly dialect: UiDialect;
  readonly begin: ChatBegin;
  readonly signal: AbortSignal;
}

interface Told {
  readonly reading: ChatReading;
  /** `next`: the next execution is the response. */
  readonly place: 'before' | 'next' | 'in' | 'over';
  /** The last one that the log has told. */
  readonly status: string | null;
}

/** An empty page says that there is no more for now. */
export async function* chatPages(
  client: RuntimeClient,
  { threadId, dialect, begin, signal }: ChatResponse,
): AsyncGenerator<readonly UiChunk[]> {
  const store = storeOf(client);
  let told: Told = { reading: beginChat(dialect), place: begin.isBegin ? 'before' : 'next', status: null };
  for await (const page of followPages(store, threadId, { after: begin.after, signal, marks: true })) {
    const chunks: UiChunk[] = [];
    for (const row of await fillRows(store, threadId, page)) {
      const [reading, outgoing] = projectChat(told.reading, row);
      const [place, before] = toPlace(told, row.event, begin);
      if (place === 'in') chunks.push(...before, ...outgoing);
      else if (place === 'over') chunks.push(...before, ...(told.place === 'in' ? outgoing : []));
      told = { reading, place, status: statusOf(row.event) ?? told.status };
      if (place === 'over') break;
    }
    if (page.length === 0) chunks.push(...(await endOf(client, threadId, told)));
    yield chunks;
    if (told.place === 'over' || chunks.some(({ type }) => type === 'finish')) return;
  }
  // The log has its last row: the thread is terminated.
  if (!signal.aborted) yield [{ type: 'abort', reason: 'terminated' }];
}

/** Where the reading is with this row, and what is told before it. */
function toPlace(
  { reading: { response }, place }: Told,
  event: ThreadEvent,
  { isBegin, joins }: ChatBegin,
): readonly [Told['place'], readonly UiChunk[]] {
  if (place === 'in') return [event.type === 'execution.ended' ? 'over' : 'in', []];
  if (place === 'next') return [event.type === 'execution.started' ? 'in' : 'next', []];
  if (event.type === 'item.rejected' && isBegin?.(event)) return ['over', failure(event.data.reason)];
  if (!isBegin?.(event)) return ['before', []];
  if (event.type === 'execution.started') return ['in', []];
  if (!response) return ['next', []];
  // R1. A message that joins is answered by a message of its own.
  const messageId = joins ? `${response.messageId}.${event.seq}` : response.messageId;
  return ['in', [{ type: 'start', messageId }]];
}

function statusOf(event: ThreadEvent): string | null {
  return event.type === 'thread.status' ? event.data.status : null;
}

/** R2. Nothing where more is to come. */
async function endOf(
  client: RuntimeClient,
  threadId: string,
  { reading: { response }, place, status }: Told,
): Promise<readonly UiChunk[]> {
  if (response?.waiting) return endAtWait(response);
  if (place === 'in' || response || (status !== 'failed' && status !== 'stopped')) return [];
  // It could not begin: what it lacks stands with the thread.
  if (!(await isAtRest(client, threadId))) return [];
  const { lastError, stopReason } = await client.getThread(threadId);
  return failure(lastError?.message ?? stopReason ?? 'The thread is at rest.');
}

function failure(errorText: string): readonly UiChunk[] {
  return [
    { type: 'error', errorText },
    { type: 'finish', finishReason: 'error' },
  ];
}

/** As of now: the store and the workflow agree. */
export function isAtRest(client: RuntimeClient, threadId: string): Promise<boolean> {
  return client.waitForIdle(threadId, { timeoutMs: 0 }).then(
    () => true,
    (error) => {
      if (isRuntimeError(error, 'Timeout')) return false;
      throw error;
    },
  );
}
