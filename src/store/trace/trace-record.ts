/** How far the log of each thread was given out as spans. Only workers with an OpenTelemetry SDK write and read it. */
import type { ThreadEvent } from '../../core/event/thread-event.ts';
import type { Json } from '../schema/column.ts';

export interface TraceTable {
  thread_id: string;
  /** Number of the last row that was read. */
  seq: number;
  /** State of the projection after that row. */
  state: Json;
}

export interface TraceCursor {
  readonly seq: number;
  /** Null at the beginning of a thread, or of an execution. */
  readonly state: unknown;
}

/** A page of rows of the log that were not given out yet, with what other rows say of them. */
export interface UntracedRows {
  readonly cursor: TraceCursor;
  readonly rows: readonly UntracedRow[];
  /** Number of the last row of the page; further ones may follow. */
  readonly seq: number;
  readonly more: boolean;
}

export interface UntracedRow {
  readonly event: ThreadEvent;
  readonly execution?: TracedExecution;
  /** Seconds. */
  readonly firstChunk?: number;
}

export interface TracedExecution {
  readonly agent: string;
  readonly traceId?: string;
  readonly sessionId?: string;
  readonly userId?: string;
  readonly calledBy?: {
    readonly threadId: string;
    readonly executionId: string;
    readonly step: number;
    readonly callId: string;
    readonly blocking: boolean;
    /** The outermost execution that waits for this one's caller, directly or not; else the caller itself. */
    readonly root: TraceRoot;
  };
}

export interface TraceRoot {
  readonly threadId: string;
  readonly executionId: string;
  /** The one that its context names. */
  readonly traceId?: string;
}

export interface SaveTrace {
  readonly threadId: string;
  readonly seq: number;
  readonly state: unknown;
}
