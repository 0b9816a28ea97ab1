/** Gives one span to the registered SDK and waits for its export, for `everthread doctor`. */
import { randomUUID } from 'node:crypto';
import { ROOT_CONTEXT, type Span, TraceFlags, trace } from '@opentelemetry/api';
import { withinTime } from '../../author/guard/within-time.ts';
import { errorMessage } from '../../core/value/error.ts';
import { withIds } from '../../otel.ts';
import { toSpanId, toTraceId } from '../../projections/trace/trace-state.ts';
import { findProvider } from './telemetry.ts';

const FLUSH_WITHIN_MS = 5_000;
/** Traces that are tried until the sampler takes one. */
export const MAX_TRIES = 1_000;

export type Trial =
  | { readonly kind: 'no SDK' }
  | { readonly kind: 'sampled out' }
  /** `hasOwnIds`: the SDK uses the id generator of `everthread/otel`. */
  | { readonly kind: 'exported'; readonly hasOwnIds: boolean }
  /** `code`: of HTTP, or of gRPC. */
  | { readonly kind: 'failed'; readonly why: string; readonly code?: number };

/** Takes five seconds at most. */
export async function tryExport(): Promise<Trial> {
  const provider = findProvider();
  if (!provider) return { kind: 'no SDK' };
  const made = startSampled();
  if (!made) return { kind: 'sampled out' };
  made.span.end();
  const late = () => new Error(`no answer in ${FLUSH_WITHIN_MS / 1000} seconds`);
  return withinTime(() => provider.forceFlush?.(), { timeoutMs: FLUSH_WITHIN_MS, late }).then(
    () => ({ kind: 'exported', hasOwnIds: made.hasOwnIds }),
    toFailure,
  );
}

/** Undefined if the sampler takes none. */
function startSampled(): { readonly span: Span; readonly hasOwnIds: boolean } | undefined {
  const tracer = trace.getTracer('everthread');
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    const key = randomUUID();
    const ids = { traceId: toTraceId(key), spanId: toSpanId(key) };
    const span = withIds(ids, () => tracer.startSpan('everthread doctor', {}, ROOT_CONTEXT));
    const { spanId, traceFlags } = span.spanContext();
    if ((traceFlags & TraceFlags.SAMPLED) !== 0) return { span, hasOwnIds: spanId === ids.spanId };
  }
  return undefined;
}

/** A provider rejects with a list of what its processors have thrown. */
function toFailure(thrown: unknown): Trial {
  const error: unknown = Array.isArray(thrown) ? thrown[0] : thrown;
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return { kind: 'failed', why: errorMessage(error), ...(typeof code === 'number' ? { code } : {}) };
}
