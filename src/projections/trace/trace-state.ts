/** What the projection to spans reads, keeps between two rows, and gives. All of it is JSON. */
import type { ThreadEvent } from '../../core/event/thread-event.ts';
import type { SpanAttributes } from './conventions.ts';

/**
 * Names a span. Its id is a digest of `key`, and its trace's id one of `trace` (unless that is a trace id already): so
 * whoever reads the log, however often, gives the same ids.
 */
export interface SpanPlace {
  readonly trace: string;
  readonly key: string;
}

/** A piece of work that has ended. Times are microseconds since 1970. */
export interface TraceSpan extends SpanPlace {
  /** Null for the first span of a trace. */
  readonly parent: SpanPlace | null;
  readonly links: readonly SpanPlace[];
  readonly name: string;
  readonly kind: 'internal' | 'client';
  readonly startedAt: number;
  readonly endedAt: number;
  readonly attributes: SpanAttributes;
  /** Absent unless the work failed. */
  readonly error?: string;
}

/** The call of another thread that has created a thread. */
export interface CallingPlace {
  readonly threadId: string;
  readonly executionId: string;
  readonly step: number;
  readonly callId: string;
  /** The trace of the calling execution. */
  readonly trace: string;
}

/** A row of the log, with what other rows of the store say of it. */
export interface TraceRow {
  readonly event: ThreadEvent;
  /** For `execution.started`. */
  readonly execution?: {
    readonly agent: string;
    readonly traceId?: string;
    readonly sessionId?: string;
    readonly userId?: string;
    /** Set for the first execution of a child. */
    readonly calledBy?: CallingPlace & { readonly blocking: boolean };
  };
  /** For the end of a request to a model: seconds until its first chunk. */
  readonly firstChunk?: number;
}

export interface OpenCall {
  readonly place: SpanPlace;
  readonly parent: SpanPlace;
  readonly name: string;
  readonly startedAt: number;
  readonly attributes: SpanAttributes;
  /** Set for a request once it has its answer, until its step is over, which says how the answer finished. */
  readonly answered?: { readonly at: number; readonly attributes: SpanAttributes };
}

export interface OpenExecution {
  readonly id: string;
  readonly agent: string;
  readonly place: SpanPlace;
  readonly parent: SpanPlace | null;
  readonly links: readonly SpanPlace[];
  readonly startedAt: number;
  readonly shared: SpanAttributes;
  /** Sums of the requests of the execution. */
  readonly input: number;
  readonly output: number;
  /** Requests and calls that have not ended, by key. */
  readonly open: Readonly<Record<string, OpenCall>>;
  /** Calls around the steps of sub-prompts, by step. */
  readonly around: Readonly<Record<string, SpanPlace>>;
  /** How often each call has begun that is repeated, by key. */
  readonly begun: Readonly<Record<string, number>>;
  /** Steps whose input was compacted. */
  readonly compacted: readonly number[];
}

export interface TraceState {
  readonly threadId: string;
  readonly execution: OpenExecution | null;
}

export const executionKey = (threadId: string, executionId: string): string =>
  JSON.stringify([threadId, executionId]);

/** `attempt` counts the bodies of a call, from 1. */
export const toolKey = (
  { threadId, executionId, step, callId }: Omit<CallingPlace, 'trace'>,
  attempt = 1,
): string => JSON.stringify([threadId, executionId, step, 'tool', callId, attempt]);

/** The trace of an execution: the one that its context names, else its own. */
export function traceOf(threadId: string, executionId: string, traceId?: string): string {
  return traceId && isTraceId(traceId) ? traceId : executionKey(threadId, executionId);
}

/** An id as W3C's Trace Context has it. */
export const isTraceId = (text: string): boolean => /^(?!0{32})[0-9a-f]{32}$/.test(text);
