/**
 * The log of a thread (runtime §12): one append-only list of events, numbered without gaps, and the `Log` entries made
 * from it.
 */

import type { GetLogsOptions, Log } from '../../core/author/thread-log.ts';
import type { EventData, EventKind, ThreadEvent } from '../../core/event/thread-event.ts';

/** A union narrowed by its `type`, like the events that are read. */
export type NewEvent = {
  [Kind in EventKind]: {
    readonly type: Kind;
    readonly data: EventData[Kind];
    readonly step?: number;
    /** True to write nothing if the step already has an event of this type. */
    readonly once?: boolean;
  };
}[EventKind];

export interface AwaitGrowth {
  readonly signal?: AbortSignal | undefined;
  /** Timeout in milliseconds; none by default. */
  readonly withinMs?: number;
}

/** Receives events after they are stored. Must not throw or take long. */
export interface EventListener {
  readonly kinds: ReadonlySet<EventKind>;
  told(thread: { readonly threadId: string; readonly agent: string }, event: ThreadEvent): void;
}

export interface EventStore {
  /** Events after a number, oldest first; default limit 1000. Empty for an unknown thread. */
  read(threadId: string, after: number, limit?: number): Promise<readonly ThreadEvent[]>;
  /**
   * Resolves once the log has an event above this number, whichever process wrote it; also on the signal, on the
   * timeout, and when the store closes. It may resolve without a reason, so the caller reads the log and checks. Never
   * rejects. All waiting callers share one query of the database.
   */
  awaitGrowth(threadId: string, after: number, options?: AwaitGrowth): Promise<void>;
  /**
   * Registers a listener. It receives the events of its kinds that threads of this store write through this object, in
   * order for each thread, and none that another process writes. Events of a child that are written in its parent's
   * transaction are left out. Returns a function that removes the listener.
   */
  listen(listener: EventListener): () => void;
  /**
   * Writes an event that code has made. Not idempotent unless `once` is set. Rejects with `ThreadTerminated`,
   * `ThreadNotFound`.
   */
  append(threadId: string, event: NewEvent): Promise<void>;
  /**
   * Removes `model.chunk` rows of executions that ended at least this long ago, a bounded number per call: repeat until
   * it returns 0. Returns how many it has removed.
   */
  removeChunks(olderThanMs: number): Promise<number>;
  /** Markers of what the thread did, made from its stored rows; newest first by default. */
  getLogs(threadId: string, options?: GetLogsOptions): Promise<Log[]>;
}
