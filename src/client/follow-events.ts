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

export async function* followEvents(
  store: ThreadStore,
  threadId: string,
  { after = 0, follow = true, signal }: FollowOptions,
): AsyncGenerator<ThreadEvent> {
  let cursor = after;
  while (!signal?.aborted) {
    const page = await store.events.read(threadId, cursor, PAGE);
    for (const event of page) {
      cursor = event.seq;
      yield event;
      if (event.type === 'thread.terminated') return;
    }
    if (page.length === PAGE) continue;
    if (!follow) return;
    await delay(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
}
