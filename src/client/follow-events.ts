/** Reads a thread's event log and follows it as it grows. The cursor is the last sequence number read. */
import type { ThreadEvent } from '../core/event/thread-event.ts';
import type { ThreadStore } from '../store/store.ts';
import { type LogPart, RemovedText } from './removed-text.ts';

const PAGE_SIZE = 500;

export interface FollowOptions {
  /** Events with a number above this one; 0, the default, means all. */
  readonly after?: number;
  /** If false, stops at the current end of the log. */
  readonly follow?: boolean;
  readonly signal?: AbortSignal;
}

export interface FollowPages extends Omit<FollowOptions, 'follow'> {
  /** `marked`: stops at the current end of the log, with an empty page that marks it. */
  readonly follow?: boolean | 'marked';
  /** If true, an empty page is yielded once each time the reader has caught up with the log. */
  readonly marks?: boolean;
}

export async function* followEvents(
  store: ThreadStore,
  threadId: string,
  options: FollowOptions,
): AsyncGenerator<ThreadEvent> {
  for await (const page of followPages(store, threadId, options)) yield* page;
}

/**
 * Yields all rows that are available at a time, 500 at most. A reader whose cursor lies among removed pieces of an
 * answer first receives an event that discards them, then the whole text, both under the number of the last piece.
 */
export async function* followPages(
  store: ThreadStore,
  threadId: string,
  options: FollowPages,
): AsyncGenerator<readonly ThreadEvent[]> {
  const { after = 0 } = options;
  const mended = after > 0 ? await readRemovedText(store, threadId, after) : [];
  const end = mended.findIndex(({ type }) => type === 'thread.terminated');
  if (mended.length > 0) yield end < 0 ? mended : mended.slice(0, end + 1);
  if (end < 0) yield* followRows(store, threadId, { ...options, after: mended.at(-1)?.seq ?? after });
}

/**
 * Returns what a reader lacks if its cursor lies among removed pieces, with the rows that were read to find it;
 * otherwise an empty list.
 */
async function readRemovedText(
  store: ThreadStore,
  threadId: string,
  after: number,
): Promise<readonly ThreadEvent[]> {
  const found = await store.events.read(threadId, after - 1, PAGE_SIZE);
  if (found.every(({ seq }, n) => seq === after + n)) return [];
  const begun = await store.executions.at(threadId, after);
  let cursor = begun?.firstSeq ? begun.firstSeq - 1 : 0;
  const text = new RemovedText(store, threadId, cursor);
  const rows: ThreadEvent[] = [];
  do {
    const page = await store.events.read(threadId, cursor, PAGE_SIZE);
    if (page.length === 0) return rows;
    for (const event of page)
      rows.push(...(await text.read(event)).flatMap((part) => missingEvents(part, after)));
    cursor = page.at(-1)?.seq ?? cursor;
  } while (cursor <= after || text.holds);
  return rows;
}

function missingEvents(part: LogPart, after: number): readonly ThreadEvent[] {
  if ('event' in part) return part.event.seq > after ? [part.event] : [];
  const { first, last, discarded, text } = part.removed;
  return first <= after && after <= last ? [discarded, text] : [];
}

/** Yields the rows as stored: removed pieces are not replaced. */
export async function* followRows(
  store: ThreadStore,
  threadId: string,
  { after = 0, follow = true, signal, marks = false }: FollowPages,
): AsyncGenerator<readonly ThreadEvent[]> {
  let cursor = after;
  let marked = !marks;
  while (!signal?.aborted) {
    const page = await (follow === true ? readShared : readUnshared)(store, threadId, cursor);
    const end = page.findIndex(({ type }) => type === 'thread.terminated');
    const rows = end < 0 ? page : page.slice(0, end + 1);
    cursor = rows.at(-1)?.seq ?? cursor;
    if (rows.length > 0) {
      marked = !marks;
      yield rows;
    }
    if (end >= 0) return;
    if (page.length === PAGE_SIZE) continue;
    if (!follow) return;
    if (follow === 'marked') {
      yield [];
      return;
    }
    if (!marked) {
      marked = true;
      yield [];
    }
    await store.events.awaitGrowth(threadId, cursor, { signal });
  }
}

type ReadEvents = (
  store: ThreadStore,
  threadId: string,
  after: number,
) => ReturnType<ThreadStore['events']['read']>;

const readUnshared: ReadEvents = (store, threadId, after) => store.events.read(threadId, after, PAGE_SIZE);

/** Reads in progress, by cursor and thread. */
const PENDING_READS = new WeakMap<ThreadStore, Map<string, ReturnType<ReadEvents>>>();

/**
 * Shares one read among readers that are woken together and need the same rows. A reader that joins late may lack rows
 * that were added since; `awaitGrowth` then wakes it at once.
 */
const readShared: ReadEvents = (store, threadId, after) => {
  const reads = PENDING_READS.get(store) ?? new Map<string, ReturnType<ReadEvents>>();
  PENDING_READS.set(store, reads);
  const key = `${after} ${threadId}`;
  const found = reads.get(key);
  if (found) return found;
  const reading = readUnshared(store, threadId, after).finally(() => reads.delete(key));
  reads.set(key, reading);
  return reading;
};
