/** What the projection to spans keeps between two rows, and gives. All of it is JSON. */
import { hash } from 'node:crypto';
import type { TracedRun, TraceRoot } from '../../core/event/traced-row.ts';
import { readTraceparent } from '../../core/governance/traceparent.ts';
import type { SpanAttributes } from './conventions.ts';

/**
 * Names a span. Its id is a digest of `key`, and its trace's id one of `trace` (unless that is a trace id already): so
 * whoever reads the log, however often, gives the same ids.
 */
export interface SpanPlace {
  readonly trace: string;
  readonly key: string;
}

/** Where the content of a span is stored. Messages are named by their ids. */
export interface SpanContent {
  readonly threadId: string;
  /** For a request: `step.attempt.call`. */
  readonly request?: string;
  /** For a call: its id, and the message that has it. */
  readonly callId?: string;
  readonly asked?: string | undefined;
  /** The answer, or the result. */
  readonly answer?: string | undefined;
  readonly finishReason?: string | undefined;
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
  /** Absent for an execution. */
  readonly content?: SpanContent;
  /** Absent unless the work failed. */
  readonly error?: string;
}

export interface OpenCall {
  readonly step: number;
  /** Key of what it is a part of: the call around its step, else its execution. */
  readonly parent: string;
  /** `client`: a request to a model. */
  readonly kind: TraceSpan['kind'];
  readonly name: string;
  readonly startedAt: number;
  readonly attributes: SpanAttributes;
  readonly content: SpanContent;
  /** Set for a request once it has its answer, until its step is over, which says how the answer finished. */
  readonly answered?: { readonly at: number; readonly attributes: SpanAttributes };
}

export interface OpenExecution extends TracedRun {
  readonly agent: string;
  readonly place: SpanPlace;
  readonly parent: SpanPlace | null;
  readonly links: readonly SpanPlace[];
  readonly startedAt: number;
  /** False if it is one trace, however long it takes. */
  readonly parts: boolean;
  /** Number of the part that is open, from 1. */
  readonly part: number;
  /** Spans that were given of this part. */
  readonly given: number;
  /** Time of the newest row. */
  readonly lastAt: number;
  readonly shared: SpanAttributes;
  /** Sums of the requests of the part. */
  readonly input: number;
  readonly output: number;
  /** Requests and calls that have not ended, by key. */
  readonly open: Readonly<Record<string, OpenCall>>;
  /** Keys of the calls around the steps of sub-prompts, by step. */
  readonly around: Readonly<Record<string, string>>;
  /** How often each call has begun that is repeated, by key. */
  readonly begun: Readonly<Record<string, number>>;
  /** The newest message. */
  readonly said?: string;
  /** The message that has each call without a result, by call id. */
  readonly asked: Readonly<Record<string, string>>;
  /** Steps whose input was compacted. */
  readonly compacted: readonly number[];
}

export interface TraceState {
  readonly threadId: string;
  readonly execution: OpenExecution | null;
}

export const executionKey = (threadId: string, executionId: string): string =>
  JSON.stringify([threadId, executionId]);

/** A part of an execution after its first. */
export const partKey = ({ threadId, executionId }: TracedRun, part: number): string =>
  JSON.stringify([threadId, executionId, 'part', part]);

export const requestKey = (
  { threadId, executionId }: TracedRun,
  { step, attempt, call }: { readonly step: number; readonly attempt: number; readonly call: number },
): string => JSON.stringify([threadId, executionId, step, attempt, call]);

/** An open request, with its answer or without. */
export const findRequest = (
  run: OpenExecution,
  { step = 0, attempt = 0 }: { readonly step?: number; readonly attempt?: number },
  call: number,
): OpenCall | undefined => run.open[requestKey(run, { step, attempt, call })];

/** `attempt` counts the bodies of a call, from 1. */
export const toolKey = (
  { threadId, executionId, step, callId }: TracedRun & { readonly step: number; readonly callId: string },
  attempt = 1,
): string => JSON.stringify([threadId, executionId, step, 'tool', callId, attempt]);

/** The newest body of a call; the first one if none has begun. */
export function bodyKey(run: OpenExecution, step: number, callId: string): string {
  const call = { ...run, step, callId };
  return toolKey(call, run.begun[toolKey(call, 0)]);
}

/** An action that code has invoked, and no model: only events show it (projections/run). */
export const actionKey = ({ threadId, executionId }: TracedRun, id: string): string =>
  JSON.stringify([threadId, executionId, 'action', id]);

/** The trace of an execution: that of the span elsewhere that it is a part of, or the one that its context names, else its own. */
export function traceOf({ threadId, executionId, traceId, traceparent }: TraceRoot): string {
  const elsewhere = traceparent === undefined ? undefined : readTraceparent(traceparent);
  if (elsewhere) return elsewhere.traceId;
  return traceId && isTraceId(traceId) ? traceId : executionKey(threadId, executionId);
}

/** An id as W3C's Trace Context has it. */
export const isTraceId = (text: string): boolean => /^(?!0{32})[0-9a-f]{32}$/.test(text);

/** 32 hex digits. */
export const toTraceId = (name: string): string => (isTraceId(name) ? name : digest(name, 16));

/** 16 hex digits. */
export const toSpanId = (key: string): string => (SPAN_ID.test(key) ? key : digest(key, 8));

/** A span elsewhere is known by its id alone. */
const SPAN_ID = /^[0-9a-f]{16}$/;

export function placeElsewhere(traceparent: string): SpanPlace | undefined {
  const found = readTraceparent(traceparent);
  return found && { trace: found.traceId, key: found.spanId };
}

const digest = (text: string, bytes: number): string => hash('sha256', text).slice(0, bytes * 2);
