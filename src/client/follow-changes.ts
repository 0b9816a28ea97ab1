/** Follows the feed of changes of threads, with either client: lists what has changed, then waits for more. */
import type { ListChanges, ThreadChanges } from '../store/thread/thread-record.ts';

export interface AwaitChanges extends ListChanges {
  /** Milliseconds to wait for a change if there is none yet; 0 unless given. */
  readonly waitMs?: number;
  readonly signal?: AbortSignal | undefined;
}

export type FollowChanges = Omit<AwaitChanges, 'waitMs'>;

/** Longest wait of one request, in milliseconds: proxies end requests that take longer. */
export const MAX_CHANGES_WAIT_MS = 25_000;

/** The first page comes at once, also if it is empty: its cursor says where the reading has begun. */
export async function* followChanges(
  list: (asked: AwaitChanges) => Promise<ThreadChanges>,
  { cursor, ...options }: FollowChanges,
): AsyncGenerator<ThreadChanges> {
  const { signal } = options;
  let from = cursor;
  for (let waitMs = 0; !signal?.aborted; waitMs = MAX_CHANGES_WAIT_MS) {
    const page = await list({ ...options, cursor: from, waitMs });
    if (signal?.aborted) return;
    yield page;
    from = page.cursor;
  }
}
