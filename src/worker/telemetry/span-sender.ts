/**
 * Gives spans of the log (projections/trace) to the OpenTelemetry SDK that is registered in this process.
 * - A span begins and ends at once, with the times of its rows, so none is lost half: what the SDK exports, drops or
 *   counts is its own affair, and no step waits for it.
 * - The ids are handed to the SDK through the id generator of `everthread/otel` (otel.ts).
 */
import {
  type Context,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { withIds } from '../../otel.ts';
import { withFormerNames } from '../../projections/trace/conventions.ts';
import { type SpanPlace, type TraceSpan, toSpanId, toTraceId } from '../../projections/trace/trace-state.ts';

export interface SpanSenderOptions {
  /** Adds the conventions' former names. */
  readonly formerNames?: boolean;
  /** Told once if the SDK gives other ids than the log's: its spans then have no common tree. */
  readonly onForeignIds?: (hint: string) => void;
}

export interface SpanSender {
  /** False for a span that is sampled out. */
  send(span: TraceSpan): boolean;
  /** The context in which this span is the active one. */
  contextOf(place: SpanPlace): Context;
}

export function createSpanSender(options: SpanSenderOptions = {}): SpanSender {
  const tracer = trace.getTracer('everthread');
  const sampled = createSampling(tracer);
  let foreign = false;
  const send = (span: TraceSpan): boolean => {
    const ids = { traceId: toTraceId(span.trace), spanId: toSpanId(span.key) };
    if (!sampled(ids.traceId)) return false;
    const { attributes, parent, startedAt, error } = span;
    const made = withIds(ids, () =>
      tracer.startSpan(
        span.name,
        {
          kind: span.kind === 'client' ? SpanKind.CLIENT : SpanKind.INTERNAL,
          startTime: toHrTime(startedAt),
          attributes: (options.formerNames ? withFormerNames(attributes) : attributes) as Record<
            string,
            string
          >,
          links: span.links.map((link) => ({ context: toSpanContext(link) })),
        },
        parent ? within(toSpanContext(parent)) : ROOT_CONTEXT,
      ),
    );
    if (!foreign && made.isRecording() && made.spanContext().spanId !== ids.spanId) {
      foreign = true;
      options.onForeignIds?.(
        'The OpenTelemetry SDK of this process makes ids of its own, so the spans of an execution have no common tree. Give it `idGenerator: new ThreadIdGenerator()` of everthread/otel.',
      );
    }
    if (error !== undefined) made.setStatus({ code: SpanStatusCode.ERROR, message: error });
    made.end(toHrTime(span.endedAt));
    return true;
  };
  const contextOf = (place: SpanPlace): Context => {
    const active = toSpanContext(place);
    const traceFlags = sampled(active.traceId) ? TraceFlags.SAMPLED : TraceFlags.NONE;
    return within({ ...active, traceFlags, isRemote: false });
  };
  return { send, contextOf };
}

/** The most traces whose sampling is kept in mind. */
const MAX_TRACES = 1000;

/**
 * The SDK's decision for a whole trace: its first span ends last, when the others are given out already. Asked with a
 * span that is never ended, and so never exported.
 */
function createSampling(tracer: Tracer): (traceId: string) => boolean {
  const known = new Map<string, boolean>();
  return (traceId) => {
    const before = known.get(traceId);
    if (before !== undefined) return before;
    const asked = withIds({ traceId, spanId: toSpanId(`${traceId}?`) }, () =>
      tracer.startSpan('invoke_agent', {}, ROOT_CONTEXT),
    );
    const sampled = (asked.spanContext().traceFlags & TraceFlags.SAMPLED) !== 0;
    if (known.size >= MAX_TRACES) known.clear();
    known.set(traceId, sampled);
    return sampled;
  };
}

const toSpanContext = (place: SpanPlace): SpanContext => ({
  traceId: toTraceId(place.trace),
  spanId: toSpanId(place.key),
  traceFlags: TraceFlags.SAMPLED,
  isRemote: true,
});

const within = (parent: SpanContext): Context => trace.setSpanContext(ROOT_CONTEXT, parent);

/** Seconds and nanoseconds, of microseconds. */
const toHrTime = (us: number): [number, number] => [Math.floor(us / 1_000_000), (us % 1_000_000) * 1000];
