/**
 * The id generator for an OpenTelemetry SDK (`everthread/otel`): spans of threads get ids that are digests of what they
 * show, all others random ones. An SDK asks for ids while a span is started, which is synchronous: so they are handed
 * over just before. The place is shared by all copies of this file in the process.
 */
import { randomBytes } from 'node:crypto';

/** @internal */
export interface SpanIds {
  readonly traceId: string;
  readonly spanId: string;
}

const HANDED = Symbol.for('everthread.otel.ids');
type Shared = { [HANDED]?: SpanIds | undefined };

/** Starts a span, which gets these ids. @internal */
export function withIds<T>(ids: SpanIds, start: () => T): T {
  const shared = globalThis as Shared;
  shared[HANDED] = ids;
  try {
    return start();
  } finally {
    shared[HANDED] = undefined;
  }
}

/**
 * Give it to the SDK, in the file of the project that starts it (docs/observability.md).
 * @example
 * ```ts
 * // For the constructor of NodeSDK.
 * const settings = { idGenerator: new ThreadIdGenerator() };
 * ```
 */
export class ThreadIdGenerator {
  /** 32 hex digits. */
  readonly generateTraceId = (): string => (globalThis as Shared)[HANDED]?.traceId ?? randomId(16);
  /** 16 hex digits. */
  readonly generateSpanId = (): string => (globalThis as Shared)[HANDED]?.spanId ?? randomId(8);
}

function randomId(bytes: number): string {
  const id = randomBytes(bytes).toString('hex');
  // All zeros are no id.
  return /^0+$/.test(id) ? randomId(bytes) : id;
}
