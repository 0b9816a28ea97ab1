/** A row of the log with what other rows of the store say of it: what the projection to spans reads (projections/trace). */
import type { ThreadEvent } from './thread-event.ts';

export interface TracedRow {
  readonly event: ThreadEvent;
  /** For `execution.started`. */
  readonly execution?: TracedExecution;
  /** For `execution.ended`: spans elsewhere that it is linked to, each as `traceparent`. */
  readonly links?: readonly string[] | undefined;
  /** For `model.answered`: seconds until the first chunk. */
  readonly firstChunk?: number | undefined;
}

export interface TracedExecution {
  readonly agent: string;
  readonly traceId?: string;
  /** The span elsewhere that it is a part of. */
  readonly traceparent?: string;
  readonly sessionId?: string;
  readonly userId?: string;
  /** The call that has created the thread. Set for the first execution of a child. */
  readonly calledBy?: TracedCaller;
  /** False if the execution is one trace, however long it takes. */
  readonly parts?: boolean;
}

/** A part of an execution ends with a wait that is longer, in microseconds, or once it has so many spans. */
export const TRACE_PART = { waitUs: 3_600_000_000, spans: 5_000 } as const;

/** Names a request to a model, or the body of a call, that has begun. */
export type TracedWork = { readonly threadId: string; readonly step: number } & (
  | { readonly attempt: number; readonly call: number }
  | { readonly callId: string }
);

/** Runs work while its span is OpenTelemetry's active one. */
export type InSpan = <T>(work: TracedWork, run: () => Promise<T>) => Promise<T>;

/** Fields of a line of the log. */
export interface LoggedSpan {
  readonly trace_id: string;
  readonly span_id: string;
}

export interface TracedRun {
  readonly threadId: string;
  readonly executionId: string;
}

export interface TracedCaller extends TracedRun {
  readonly step: number;
  readonly callId: string;
  readonly blocking: boolean;
  /** The outermost execution that waits for this one's caller, directly or not; else the caller itself. */
  readonly root: TraceRoot;
  /** Number of the first row of the execution that calls. */
  readonly firstSeq: number;
  /** True if that execution, or one that waits for it, may have had several parts by then. */
  readonly isLong: boolean;
  /** Trace of the call, if it is known to be another than the root's. */
  readonly trace?: string;
}

export interface TraceRoot extends TracedRun {
  /** The one that its context names. */
  readonly traceId?: string | undefined;
  /** That of the span elsewhere that it is a part of. */
  readonly traceparent?: string | undefined;
}
