/**
 * The log of a thread (runtime §12): one append-only list of events, numbered without gaps, and the `Log` entries made
 * from it.
 */

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
