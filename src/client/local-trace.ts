/** Writes traces of runs to a file, for later inspection: one span a line, redacted. */
import { appendFile } from 'node:fs/promises';
import type { RunEvent } from '../projections/run/run-event.ts';
import { RedactionPolicy } from '../projections/run/run-redaction.ts';
import { NO_TRACE, projectTrace, type TraceReading } from '../projections/run/run-trace.ts';
import type { EventSink } from './event-sink.ts';

export interface LocalTraceOptions {
  /** File that spans are appended to as JSON lines; a new one is readable by its owner alone. */
  readonly path: string;
  /** The default policy unless given. */
  readonly redaction?: RedactionPolicy;
}

/**
 * A sink that writes the spans of a run, its requests to models and its actions. Attach it at the beginning of a run: a
 * span is only written if the sink has received its beginning.
 * @example
 * ```ts
 * const trace = new LocalTraceTelemetry({ path: 'trace.jsonl' });
 * await client.runs.attach(threadId, trace, { follow: false });
 * ```
 */
export class LocalTraceTelemetry implements EventSink {
  readonly #path: string;
  readonly #redaction: RedactionPolicy;
  #reading: TraceReading = NO_TRACE;

  constructor({ path, redaction = new RedactionPolicy() }: LocalTraceOptions) {
    this.#path = path;
    this.#redaction = redaction;
  }

  async emit(event: RunEvent): Promise<void> {
    const [next, spans] = projectTrace(this.#reading, event);
    this.#reading = next;
    if (spans.length === 0) return;
    const lines = spans.map((span) => `${JSON.stringify(this.#redaction.redact(span))}\n`);
    await appendFile(this.#path, lines.join(''), { mode: 0o600 });
  }
}
