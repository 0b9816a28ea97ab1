/**
 * Reads a thread's log as frames for a socket: first the newest rows, then the part of an answer that is already
 * written, then everything that follows. Clients of the standard never request what they have missed, so a client that
 * reconnects gets all of this again.
 * - The end of the log is read before the rows. A row that is stored in between is sent twice, never left out.
 */
import { followPages } from '../../client/follow-events.ts';
import type { RuntimeClient } from '../../client/runtime-client.ts';
import type { ThreadEvent } from '../../core/event/thread-event.ts';
import type { Message } from '../../core/message/message.ts';
import type { LogRow } from '../../projections/projection.ts';
import { rowFrame, type StandardFrame, toStandardRow } from '../../projections/standard/standard-frame.ts';
import { projectStandard } from '../../projections/standard/standard-projection.ts';
import {
  beginStandard,
  openFrames,
  type StandardReading,
} from '../../projections/standard/standard-state.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { ThreadRecord } from '../../store/thread/thread-record.ts';

const NEWEST = 100;

export interface StandardStream {
  readonly threadId: string;
  readonly depth: number;
  readonly signal: AbortSignal;
}

export async function* standardPages(
  client: RuntimeClient,
  { threadId, depth, signal }: StandardStream,
): AsyncGenerator<readonly StandardFrame[]> {
  const store = client.store;
  // The end of the log first.
  const thread = await client.getThread(threadId);
  const page = await client.getMessages(threadId, { limit: NEWEST, includeSilent: true, maxDepth: depth });
  let reading = await readOpen(store, thread);
  yield [...page.messages.map((message) => rowFrame(toStandardRow(message))), ...openFrames(reading)];
  for await (const events of followPages(store, threadId, { after: thread.lastSeq, signal })) {
    const frames: StandardFrame[] = [];
    for (const row of await fillMessages(store, threadId, events)) {
      const [next, projected] = projectStandard(reading, row);
      reading = next;
      frames.push(...projected);
    }
    if (frames.length > 0) yield frames;
  }
}

/** Returns what is being written at the thread's last row, read from the rows of the open execution, if any. */
async function readOpen(
  store: ThreadStore,
  { id: threadId, lastSeq, status }: ThreadRecord,
): Promise<StandardReading> {
  let reading = beginStandard(threadId);
  const begun =
    status === 'running' || status === 'waiting' ? await store.executions.at(threadId, lastSeq) : null;
  if (!begun) return reading;
  const after = begun.firstSeq ? begun.firstSeq - 1 : 0;
  for await (const events of followPages(store, threadId, { after, follow: false })) {
    for (const event of events) {
      if (event.seq > lastSeq) return reading;
      [reading] = projectStandard(reading, { event });
    }
  }
  return reading;
}

function fillMessages(
  store: ThreadStore,
  threadId: string,
  events: readonly ThreadEvent[],
): Promise<LogRow[]> {
  return Promise.all(
    events.map(async (event) => {
      const id = messageOf(event);
      if (id === null) return { event };
      return { event, message: (await store.messages.get(threadId, id)) satisfies Message | null };
    }),
  );
}

function messageOf(event: ThreadEvent): string | null {
  if (event.type === 'message.created' || event.type === 'message.updated') return event.data.messageId;
  return event.type === 'item.queued' && event.data.kind === 'message' ? event.data.id : null;
}
