/** A span elsewhere, as W3C's Trace Context names it: `00-<trace>-<span>-<flags>`. */

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}$/;

export interface SpanElsewhere {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
}

/** Undefined if the text is none. */
export function readTraceparent(text: string): SpanElsewhere | undefined {
  const [, traceId, spanId] = TRACEPARENT.exec(text) ?? [];
  return traceId === undefined || spanId === undefined ? undefined : { traceId, spanId };
}

/** The most spans elsewhere that an execution is linked to. */
export const MAX_TRACE_LINKS = 32;
