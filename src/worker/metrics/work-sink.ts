/**
 * What both Prometheus and OpenTelemetry count of a thread's work: `thread-metrics.ts` tells each of them once. Seconds
 * are undefined if another process has written the beginning.
 * - Every text is one that the project defines, or `other`: each value of a label is a permanent series.
 */
import type { ProviderUsage } from '../../core/message/provider-terms.ts';

export interface AskedModel {
  /** Its name in the project. */
  readonly model: string;
  /** Its name at the provider. */
  readonly modelId: string;
}

export interface EndedRequest extends AskedModel {
  readonly seconds: number | undefined;
  /** The code of its failure. */
  readonly error: string | undefined;
}

/** Told for the first `part` that is stored of an answer, whatever it is, and for its first text. */
export interface BegunAnswer extends AskedModel {
  readonly seconds: number;
  readonly part: 'chunk' | 'text';
}

export interface AnsweredRequest extends AskedModel {
  readonly usage: ProviderUsage | null;
  /** US dollars; null if no price is known. */
  readonly cost: number | null;
}

export interface EndedCall {
  readonly tool: string;
  readonly agent: string;
  readonly outcome: 'success' | 'error' | 'unknown';
  readonly seconds: number | undefined;
}

export interface EndedExecution {
  readonly threadId: string;
  readonly executionId: string;
  readonly agent: string;
  /** Absent if its thread is idle now. */
  readonly status: string | undefined;
  /** The code of its failure. */
  readonly error: string | undefined;
  /** Microseconds since 1970. */
  readonly endedAt: number;
}

export interface WorkSink {
  requestEnded(request: EndedRequest): void;
  answered(request: AnsweredRequest): void;
  begun(request: BegunAnswer): void;
  callEnded(call: EndedCall): void;
  executionEnded(execution: EndedExecution): void;
}
