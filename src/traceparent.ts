/**
 * The span of the work that is running, as W3C's Trace Context names it. Only a process with an OpenTelemetry SDK has one
 * (worker/telemetry); `tracestate` and `baggage` are never sent.
 */
import { channel } from 'node:diagnostics_channel';
import { isSpanContextValid, trace } from '@opentelemetry/api';

/** Undefined without an SDK, and outside of requests to models and bodies of calls. */
export function activeTraceparent(): string | undefined {
  const active = trace.getActiveSpan()?.spanContext();
  if (!active || !isSpanContextValid(active)) return undefined;
  return `00-${active.traceId}-${active.spanId}-${active.traceFlags & 1 ? '01' : '00'}`;
}

/** Has subscribers if an instrumentation of `fetch` is installed, which sends the header of its own span. */
const FETCHES = channel('undici:request:create');

/** The header for a request with Node's `fetch`; undefined if it has none, or an instrumentation sends it. */
export const traceHeader = (): string | undefined =>
  FETCHES.hasSubscribers ? undefined : activeTraceparent();

/** A request with that header. */
export function withTraceHeader(
  init: RequestInit | undefined,
  input?: string | URL | Request,
): RequestInit | undefined {
  const traceparent = traceHeader();
  if (traceparent === undefined) return init;
  const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined));
  headers.set('traceparent', traceparent);
  return { ...init, headers };
}
