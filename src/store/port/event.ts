/** The log of a thread (runtime §12): one append-only list of events, numbered without gaps, and the logs that are read from it. */

import type { GetLogsOptions, Log } from '../../core/author/thread-log.ts';
import type { EventData, EventKind, ThreadEvent } from '../../core/event/thread-event.ts';

/** Narrowed by its `type`, as the events that are read. */
export type NewEvent = {
  [Kind in EventKind]: {
    readonly type: Kind;
    readonly data: EventData[Kind];
    readonly step?: number;
    /** Not when the step has an event of this type already. */
    readonly once?: boolean;
  };
}[EventKind];

export interface AwaitGrowth {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds; as long as it takes unless given. */
  readonly withinMs?: number;
}

/** Must not throw, nor take long. */
export interface EventListener {
  readonly kinds: ReadonlySet<EventKind>;
  told(thread: { readonly threadId: string; readonly agent: string }, event: ThreadEvent): void;
}

export interface EventStore {
  /** Events after a number, oldest first, 1000 at most unless a limit is given. None for an unknown thread. */
  read(threadId: string, after: number, limit?: number): Promise<readonly ThreadEvent[]>;
  /**
   * Resolves once the log has an event above this number, whoever wrote it, and with the signal, the end of the time, or the store's end; now and then
   * for no reason, so its caller reads and looks. Never rejects. All who wait share one look at the database.
   */
  awaitGrowth(threadId: string, after: number, options?: AwaitGrowth): Promise<void>;
  /**
   * From now on the listener is told of events of its kinds that threads of this store write through this object, in order for each thread, and of
   * none that another process writes. What belongs to a child and is written with its parent is not told. Answers how to end that.
   */
  listen(listener: EventListener): () => void;
  /**
   * Writes an event of code's own making; given twice it is there twice, unless it is `once`. Rejects with `ThreadTerminated`,
   * `ThreadNotFound`.
   */
  append(threadId: string, event: NewEvent): Promise<void>;
  /**
   * Removes the rows of `model.chunk` of executions that ended so long ago: some of them with each call, until it answers 0. It answers how many
   * it has removed.
   */
  removeChunks(olderThanMs: number): Promise<number>;
  /** Markers of what the thread did, made of the rows that its work has left; the newest first unless asked otherwise. */
  getLogs(threadId: string, options?: GetLogsOptions): Promise<Log[]>;
}
