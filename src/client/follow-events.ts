/** Reads a thread's event log and follows it as it grows. The cursor is the last sequence number read. */
import { setTimeout as delay } from 'node:timers/promises';
import type { ThreadEvent } from '../core/event/thread-event.ts';
import type { ThreadStore } from '../store/port/thread-store.ts';

const PAGE = 500;
const POLL_MS = 60;

export interface FollowOptions {
  /** Events with a number above this one; 0, the default, means all. */
  readonly after?: number;
  /** False: stops at the log's present end. */
  readonly follow?: boolean;
  readonly signal?: AbortSignal;
}

export interface FollowPages extends FollowOptions {
  /** An empty page where the log has no more for now, once until it has. */
  readonly marks?: boolean;
}

export async function* followEvents(
  store: ThreadStore,
  threadId: string,
  options: FollowOptions,
): AsyncGenerator<ThreadEvent> {
  for await (const page of followPages(store, threadId, options)) yield* page;
}

/** As many rows at a time as there are, 500 at most. */
export async function* followPages(
  store: ThreadStore,
  threadId: string,
  { after = 0, follow = true, signal, marks = false }: FollowPages,
): AsyncGenerator<readonly ThreadEvent[]> {
  let cursor = after;
  let marked = !marks;
  while (!signal?.aborted) {
    const page = await store.events.read(threadId, cursor, PAGE);
    const end = page.findIndex(({ type }) => type === 'thread.terminated');
    const told = end < 0 ? page : page.slice(0, end + 1);
    cursor = told.at(-1)?.seq ?? cursor;
    if (told.length > 0) {
      marked = !marks;
      yield told;
    }
    if (end >= 0) return;
    if (page.length === PAGE) continue;
    if (!follow) return;
    if (!marked) {
      marked = true;
      yield [];
    }
    await delay(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
}
