/**
 * The log of a thread (runtime §12): one append-only list of events, numbered without gaps, and the `Log` entries made
 * from it.
 */

import type { EventData, EventKind, ThreadEvent } from '../../core/event/thread-event.ts';
import type { LoggedSpan } from '../../core/event/traced-row.ts';

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

export interface WritingThread {
  readonly threadId: string;
  readonly agent: string;
  /** Where an OpenTelemetry SDK is registered: the event's span, if the process knows it. */
  readonly span?: LoggedSpan | undefined;
}

/** Receives events after they are stored. Must not throw or take long. */
export interface EventListener {
  readonly kinds: ReadonlySet<EventKind>;
  told(thread: WritingThread, event: ThreadEvent): void;
}
