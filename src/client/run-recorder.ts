/** Collects the events of a run for a report. */

import type { RunEvent } from '../projections/run/run-event.ts';
import { type ReportOptions, type RunReport, toRunReport } from '../projections/run/run-report.ts';
import { type EventSink, InMemoryEventSink } from './event-sink.ts';

/**
 * A sink that builds a report from the events that it receives.
 * @example
 * ```ts
 * const recorder = new RunRecorder();
 * await client.runs.attach(threadId, recorder, { follow: false });
 * const report = recorder.toReport({ metadata: { source: 'integration-test' }, redaction: new RedactionPolicy() });
 * ```
 */
export class RunRecorder implements EventSink {
  readonly #sink = new InMemoryEventSink();

  emit(event: RunEvent): void {
    this.#sink.emit(event);
  }

  toReport(options: ReportOptions = {}): RunReport {
    return toRunReport(this.#sink.events, options);
  }

  clear(): void {
    this.#sink.clear();
  }
}
